package search

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestClientsKnowTheWeakClauses: the clients of examples offer other words where Go does.
func TestClientsKnowTheWeakClauses(t *testing.T) {
	search, err := os.ReadFile("../mappings/search.json")
	if err != nil {
		t.Fatal(err)
	}
	var weak []string
	for _, name := range regexp.MustCompile(`"_name": "([^"]+)"`).FindAllStringSubmatch(string(search), -1) {
		if !wellFound(name[1:]) {
			weak = append(weak, name[1])
		}
	}
	slices.Sort(weak)
	for _, file := range []string{"javascript/riskdex.mjs", "python/riskdex.py"} {
		client, err := os.ReadFile("../examples/" + file)
		if err != nil {
			t.Fatal(err)
		}
		list := regexp.MustCompile(`(?is)\bweak(?:Clauses)?\b[^\n]*[\[({]\n(.*?)\n\s*[\])}]`).FindSubmatch(client)
		if list == nil {
			t.Errorf("%s has no list of weak clauses", file)
			continue
		}
		var known []string
		for _, name := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(string(list[1]), -1) {
			known = append(known, name[1])
		}
		slices.Sort(known)
		if !slices.Equal(known, weak) {
			t.Errorf("%s has the clauses %q, want %q", file, known, weak)
		}
		for _, part := range []string{`"cities", "advisories", "special-reports"`, "allow_partial_search_results", "{{words}}", "{{filter}}", "{{size}}", "{{from}}", "did_you_mean"} {
			if !strings.Contains(string(client), part) {
				t.Errorf("%s lacks %s", file, part)
			}
		}
	}
}
