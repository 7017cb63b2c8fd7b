package livetest

import (
	_ "embed"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
	"riskdex/search"
)

// before is an index.json of an earlier day. A body may name fields that it lacks, but no analyzers
// that it lacks: give a new one to a field of its own, as its search_analyzer.
//
//go:embed testdata/index-2026-11-25.json
var before []byte

// TestSearchOfTodayOnAnIndexOfBefore: while an upgrade fills the new index, the old one
// answers searches, although their bodies name fields that it lacks.
func TestSearchOfTodayOnAnIndexOfBefore(t *testing.T) {
	old := newIndices(t, elastictest.Prefix(t))
	var err error
	if old.Set, err = mappings.LoadWith("index.json", before); err != nil {
		t.Fatal(err)
	}
	fill(t, old, feed())
	aliases := []string{old.Alias(report.Cities), old.Alias(report.Advisories), old.Alias(report.SpecialReports)}
	today := newSet(t)
	for words, want := range map[string]report.ID{"London": "city-LON", "bom": "city-BOM", "protests London": "city-LON", "munich": "city-MUC"} {
		for name, body := range map[string]func(string, search.Query) ([]byte, error){"search": today.SearchBody, "completion": today.CompleteBody} {
			made, err := body(words, search.Query{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := indices.Search(t.Context(), old.Client, aliases, made)
			if err != nil {
				t.Errorf("%s of %q: %v", name, words, err)
			} else if name == "search" && words != "munich" && (len(got.Hits) == 0 || got.Hits[0].ID != want) {
				t.Errorf("%s of %q: %+v, want %s first", name, words, got.Hits, want)
			}
		}
	}
}
