package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/require"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
	"riskdex/search"
)

// TestExamples has the clients of examples search, and compares what they find with what
// riskdex finds: hits, facets, pages, and other words.
func TestExamples(t *testing.T) {
	clients := map[string][]string{
		"javascript": {needs.Program(t, "node", "apt-get install -y --no-install-recommends nodejs"), "../../examples/javascript/riskdex.mjs"},
		"python":     {needs.Python(t, "examples/python/requirements.txt"), "../../examples/python/riskdex.py"},
	}
	p := newSearched(t, elastictest.URL(t))
	p.start()
	p.indicesReady()
	p.send("POST", "/cities", `[{"id":1,"code":"SYD","title":"Sydney","country":"AU","risk_level":2,"body":"Crime is rare & <b>mild</b>."},
		{"id":2,"code":"SYR","title":"Syracuse","country":"US","risk_level":3},{"id":"a/b","code":"LDZ","title":"Łódź \"{{filter}}\"","country":"PL"}]`)
	p.send("POST", "/advisories", `[{"id":3,"title":"Harbour strike in Sydney","country":["AU","NZ"],"risk_level":4}]`)
	p.drained()
	p.indexed(report.Cities)
	p.indexed(report.Advisories)

	set, err := mappings.Builtin()
	require.NoError(t, err)
	client, err := elasticsearchSettings{ElasticsearchURL: p.elasticsearch}.client()
	require.NoError(t, err)
	x := &indices.Indices{Client: client, Prefix: p.prefix, Set: set}
	for _, c := range []struct {
		words, options string
		complete       bool
		want           search.Query
	}{
		{words: "sydney", options: `{}`},
		{words: "SYD", options: `{"size":1}`, want: search.Query{Size: 1}},
		{words: "sydney", options: `{"from":1}`, want: search.Query{From: 1}},
		{words: "  harbour   strike ", options: `{"filter":[{"terms":{"country":["NZ"]}}]}`, want: search.Query{Countries: []string{"NZ"}}},
		{words: "sydney", options: `{"filter":[{"range":{"risk_level":{"gte":3}}}]}`, want: search.Query{RiskLevel: 3}},
		{words: "sydnqy", options: `{}`}, // another word is offered
		{words: "lodz", options: `{}`},
		{words: `\"}]}{{filter}} 'łódź' 😀`, options: `{}`},
		{words: "sydney " + strings.Repeat("地震😀", 300), options: `{}`},
		{words: "nothing of this kind", options: `{}`},
		{words: "sy", options: `{"complete":true}`, complete: true},
	} {
		c.want.Words, c.want.Complete = c.words, c.complete
		body, err := set.FileBody(c.want)
		require.NoError(t, err)
		found, err := x.Search(t.Context(), body)
		require.NoError(t, err)
		for name, command := range clients {
			cmd := exec.CommandContext(t.Context(), command[0], command[1], c.words, c.options)
			cmd.Env = append(os.Environ(), "ELASTICSEARCH_URL="+p.elasticsearch, "RISKDEX_INDEX_PREFIX="+p.prefix)
			cmd.Stderr = t.Output()
			out, err := cmd.Output()
			require.NoError(t, err)
			if got, want := exampleFound(t, out), foundText(found); got != want {
				t.Errorf("%s searches for %q with %s:\n%swant:\n%s", name, c.words, c.options, got, want)
			}
		}
	}

	p.ask("POST", "/"+p.prefix+"cities-v1/_close", "", nil)
	for name, command := range clients {
		cmd := exec.CommandContext(t.Context(), command[0], command[1], "sydney")
		cmd.Env = append(os.Environ(), "ELASTICSEARCH_URL="+p.elasticsearch, "RISKDEX_INDEX_PREFIX="+p.prefix)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "index_closed_exception") {
			t.Errorf("%s does not fail while an index is closed: %v, %s", name, err, out)
		}
	}
}

// exampleFound returns what a client has printed in the form of foundText.
func exampleFound(t *testing.T, out []byte) string {
	t.Helper()
	var found struct {
		Total      int
		More       bool
		DidYouMean string
		Facets     map[string][]search.Count
		Hits       []struct {
			Kind       report.Kind
			ID         report.ID
			Title      string
			Score      float64
			Highlights map[string][]string
		}
	}
	require.NoError(t, json.Unmarshal(out, &found))
	maps.DeleteFunc(found.Facets, func(_ string, counts []search.Count) bool { return len(counts) == 0 })
	result := search.Result{Total: found.Total, More: found.More, DidYouMean: found.DidYouMean, Facets: found.Facets}
	for _, h := range found.Hits {
		result.Hits = append(result.Hits, search.Hit{ID: h.ID, Score: h.Score, Highlights: h.Highlights, Fields: search.Fields{Kind: h.Kind, Title: h.Title}})
	}
	return foundText(result)
}

// foundText returns what a search found for comparison.
func foundText(r search.Result) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d %v, did you mean %q, facets %v\n", r.Total, r.More, r.DidYouMean, r.Facets)
	for _, h := range r.Hits {
		fmt.Fprintf(&text, "%s/%s %q %v %v\n", h.Kind, h.ID, h.Title, math.Round(100*h.Score), h.Highlights)
	}
	return text.String()
}
