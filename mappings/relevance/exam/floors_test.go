package exam

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"riskdex/internal/relevancetest"
)

// floor is what a class of queries must reach: MRR and nDCG@10, taught and untaught.
type floor struct{ mrr, ndcg, bareMRR, bareNDCG float64 }

// floors are a little below what was measured. Who makes the search better raises them.
// The class nonsense counts the queries that find nothing, and is no part of "all".
var floors = map[string]floor{
	"another word":    {0.81, 0.79, 0.65, 0.60},
	"city and threat": {0.88, 0.81, 0.53, 0.44},
	"code and more":   {0.19, 0.18, 0.11, 0.10},
	"completion":      {0.56, 0.60, 0.33, 0.34},
	"country":         {0.32, 0.39, 0.37, 0.27},
	"demonym":         {0.12, 0.09, 0.07, 0.04},
	"name":            {0.44, 0.42, 0.37, 0.33},
	"namesake":        {0.69, 0.86, 0.35, 0.41},
	"other language":  {0.90, 0.76, 0.53, 0.44},
	"place":           {0.96, 0.96, 0.66, 0.52},
	"question":        {0.76, 0.72, 0.46, 0.38},
	"script":          {0.09, 0.08, 0.07, 0.03},
	"several words":   {0.68, 0.69, 0.21, 0.27},
	"typo":            {0.85, 0.89, 0.51, 0.50},
	"unknown word":    {0.73, 0.66, 0.39, 0.28},
	"nonsense":        {0.95, 0.95, 0.95, 0.95},
	"all":             {0.58, 0.58, 0.38, 0.34},
}

// bestFirst is the share of all queries with a best document first, and repeatable that
// of those for which two builds of the same data give the same order.
const bestFirst, repeatable = 0.54, 0.65

// sheet has the outcomes of all queries, by what was asked.
type sheet map[string][]relevancetest.Outcome

// scores sums outcomes up by class.
func (s sheet) scores(asked string) map[string]*relevancetest.Score {
	meant := slices.DeleteFunc(slices.Clone(s[asked]), func(o relevancetest.Outcome) bool { return o.Query.Class == nonsense })
	scores := relevancetest.ByClass(meant)
	scores[nonsense] = relevancetest.ByClass(s[asked])[nonsense]
	return scores
}

// table shows for every class: first, MRR and nDCG@10 of riskdex, taught and untaught, MRR
// and nDCG@10 of the baselines.
func (s sheet) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-18s%8s │%22s │%22s │%15s │%15s\n", "", "", "taught", "untaught", "plain", "simple")
	fmt.Fprintf(&b, "%-18s%8s │%8s%6s%8s │%8s%6s%8s │%7s%8s │%7s%8s\n",
		"class", "queries", "first", "MRR", "nDCG", "first", "MRR", "nDCG", "MRR", "nDCG", "MRR", "nDCG")
	taught, untaught, plain, simple := s.scores("taught"), s.scores("untaught"), s.scores("plain"), s.scores("simple")
	for _, class := range slices.Sorted(maps.Keys(taught)) {
		a, u, p, m := taught[class], untaught[class], plain[class], simple[class]
		fmt.Fprintf(&b, "%-18s%8d │%8.2f%6.2f%8.2f │%8.2f%6.2f%8.2f │%7.2f%8.2f │%7.2f%8.2f\n", class, a.Queries,
			a.First, a.MRR, a.NDCG, u.First, u.MRR, u.NDCG, p.MRR, p.NDCG, m.MRR, m.NDCG)
	}
	return b.String()
}

// check holds the outcomes against the floors.
func (s sheet) check(t *testing.T, same float64) {
	t.Helper()
	taught, untaught := s.scores("taught"), s.scores("untaught")
	for class := range taught {
		if _, ok := floors[class]; !ok {
			t.Errorf("the class %q has no floor", class)
		}
	}
	for class, floor := range floors {
		if missed := taught[class].Below(relevancetest.Score{MRR: floor.mrr, NDCG: floor.ndcg}); missed != "" {
			t.Errorf("%s, taught: %s", class, missed)
		}
		if missed := untaught[class].Below(relevancetest.Score{MRR: floor.bareMRR, NDCG: floor.bareNDCG}); missed != "" {
			t.Errorf("%s, untaught: %s", class, missed)
		}
	}
	if got := taught["all"].First; got < bestFirst {
		t.Errorf("best first in %.3f of all queries, want at least %.3f", got, bestFirst)
	}
	if same < repeatable {
		t.Errorf("two builds give the same order in %.3f of all queries, want at least %.3f", same, repeatable)
	}
}
