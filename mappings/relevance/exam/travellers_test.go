package exam

import (
	_ "embed"
	"maps"
	"slices"
	"testing"

	"riskdex/internal/testkit/relevancetest"
)

//go:embed travellers.tsv
var travellersFile string

// TestTravellersWords asks what travellers type and riskdex failed to find: names without spaces
// beside them, small words that are somebody's code, words with several meanings, names of countries
// in their own languages.
func TestTravellersWords(t *testing.T) {
	w := newWorld(t)
	w.populate(t)
	queries := w.judge(t, "travellers.tsv", travellersFile)
	if t.Failed() {
		return
	}
	e := build(t, w.changes(t, true))
	outcomes := ask(t, e, queries, e.own)
	for _, o := range outcomes {
		if o.Rank != 1 {
			t.Logf("%s: %q: rank %d, nDCG %.2f: %s", o.Query.Class, o.Query.Words, o.Rank, o.NDCG, w.describe(o.Hits[:min(5, len(o.Hits))]))
		}
	}
	scores := relevancetest.ByClass(outcomes)
	for _, class := range slices.Sorted(maps.Keys(scores)) {
		got := scores[class]
		t.Logf("%-16s%4d queries, first %.2f, MRR %.2f, nDCG %.2f", class, got.Queries, got.First, got.MRR, got.NDCG)
		floor, ok := travellersFloors[class]
		if !ok {
			t.Errorf("the class %q has no floor", class)
		}
		if missed := got.Below(floor); missed != "" {
			t.Errorf("%s: %s", class, missed)
		}
	}
}

// travellersFloors are what each class must reach.
var travellersFloors = map[string]relevancetest.Score{
	"no spaces":     {MRR: 0.9, NDCG: 0.85},
	"small words":   {MRR: 0.9, NDCG: 0.85},
	"two meanings":  {MRR: 0.9, NDCG: 0.85},
	"more words":    {MRR: 0.9, NDCG: 0.85},
	"within a name": {MRR: 0.9, NDCG: 0.85},
	"own name":      {MRR: 0.85, NDCG: 0.85},
	"all":           {MRR: 0.9, NDCG: 0.85},
}
