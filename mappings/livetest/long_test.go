package livetest

import (
	"fmt"
	"strings"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/mappings/indices"
	"riskdex/report"
	"riskdex/search"
)

// TestLongSearchHasAnAnswer: whatever somebody pastes into a search is answered, in all scripts,
// also those that write no spaces, of which each sign is a word.
func TestLongSearchHasAnAnswer(t *testing.T) {
	x := newIndices(t, elastictest.Prefix(t))
	fill(t, x, feed())
	all := []string{x.Alias(report.Cities), x.Alias(report.Advisories), x.Alias(report.SpecialReports)}
	signs := func(first rune, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteRune(first + rune(i*7%3000))
		}
		return b.String()
	}
	words := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "w%d ", i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"Chinese": signs('一', 5000), "Korean": signs('가', 5000), "Japanese": strings.Repeat("東京の地震について教えてください", 300),
		"Thai": strings.Repeat("แผ่นดินไหวในกรุงเทพ", 300), "words": words(2000), "letters": strings.Repeat("a ", 3000),
		"one word": strings.Repeat("x", 20_000), "emoji": strings.Repeat("⚠️🇬🇧", 1000), "quotes": strings.Repeat(`"\`, 3000),
		"Chinese threats apart": strings.Repeat("地震😀", 300), "Thai threats": strings.Repeat("น้ำท่วม ", 300),
		"Japanese threats": strings.Repeat("デモ ", 300), "Russian threats": strings.Repeat("наводнение ", 300),
		"Chinese threats": strings.Repeat("地震", 300), "Chinese strikes apart": strings.Repeat("罢工 ", 300), "Korean strikes": strings.Repeat("파업 ", 300),
		"Chinese threats of all kinds": strings.Repeat("抗议洪水罢工示威山火", 60),
		"codes":                        strings.Repeat("LHR ", 2000), "threats": strings.Repeat("earthquake protest flood ", 500),
	} {
		body, err := x.Set.SearchBody("London "+text, search.Query{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		found, err := indices.Search(t.Context(), x.Client, all, body)
		if err != nil {
			t.Errorf("%s: %.300v", name, err)
		} else if len(found.Hits) == 0 || found.Hits[0].ID != "city-LON" {
			t.Errorf("%s: London is not first among %d", name, len(found.Hits))
		}
		body, err = x.Set.CompleteBody("Londo"+text, search.Query{})
		if err != nil {
			t.Errorf("completion of %s: %v", name, err)
			continue
		}
		if _, err := indices.Search(t.Context(), x.Client, all, body); err != nil {
			t.Errorf("completion of %s: %.300v", name, err)
		}
	}
}
