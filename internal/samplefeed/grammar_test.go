package samplefeed

import (
	"encoding/json"
	"strings"
	"testing"
)

func mustGrammar(t *testing.T) grammar {
	t.Helper()
	g, err := parseGrammar(proseFiles)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func mustCities(t *testing.T) []city {
	t.Helper()
	cities, err := readCities()
	if err != nil {
		t.Fatal(err)
	}
	return cities
}

// Every name in braces is that of a fact or a topic, and every bracket is closed.
func TestProseNamesOnlyWhatIsThere(t *testing.T) {
	g := mustGrammar(t)
	facts := mustCities(t)[0].subject(1).facts
	facts["start"], facts["end"] = "a day", "another day"
	for topic, sentences := range g {
		for _, s := range sentences {
			if strings.Count(s.text, "[") != strings.Count(s.text, "]") || strings.Count(s.text, "{") != strings.Count(s.text, "}") {
				t.Errorf("%s: a bracket is left open in %q", topic, s.text)
			}
			for _, part := range strings.Split(s.text, "{")[1:] {
				name, _, _ := strings.Cut(part, "}")
				_, fact := facts[name]
				if _, ok := g[name]; !ok && !fact {
					t.Errorf("%s: nothing is called {%s}", topic, name)
				}
			}
		}
	}
}

func TestExpandedTextHasNoPlaceholders(t *testing.T) {
	requests, _ := mustFeed(t)
	for _, r := range requests {
		var body any
		if r.Body == nil || json.Unmarshal(r.Body, &body) != nil {
			continue
		}
		visit(body, func(s string) {
			if i := strings.IndexAny(s, "{}[]|"); i >= 0 {
				t.Errorf("%s %s has a placeholder in %q", r.Method, r.Path, s[max(0, i-40):min(len(s), i+40)])
			}
		})
	}
}

func visit(v any, see func(string)) {
	switch v := v.(type) {
	case string:
		see(v)
	case []any:
		for _, member := range v {
			visit(member, see)
		}
	case map[string]any:
		for _, member := range v {
			visit(member, see)
		}
	}
}

func TestTagsChooseSentences(t *testing.T) {
	g := grammar{"road": {parseSentence("@left,ferry Look right."), parseSentence("Look around.")}}
	for tag, want := range map[string]int{"left": 2, "right": 1} {
		if got := g.say(newDice("x"), subject{tags: []string{tag}}, "road", 9); len(got) != want {
			t.Errorf("with %s: %q", tag, got)
		}
	}
}

func TestPDFIsWhole(t *testing.T) {
	text := string(pdf(strings.Repeat("São (Paulo) ", 50)))
	start := strings.LastIndex(text, "startxref\n")
	if !strings.HasPrefix(text, "%PDF-1.4\n") || !strings.HasSuffix(text, "%%EOF\n") || start < 0 {
		t.Fatalf("no PDF: %.80q", text)
	}
	offset := strings.TrimSpace(strings.TrimSuffix(text[start+len("startxref\n"):], "%%EOF\n"))
	var at int
	if err := json.Unmarshal([]byte(offset), &at); err != nil || !strings.HasPrefix(text[at:], "xref\n") {
		t.Errorf("startxref points at %q", offset)
	}
}
