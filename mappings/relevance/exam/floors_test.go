package exam

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"riskdex/internal/testkit/relevancetest"
)

// floor is what a class of queries must reach: MRR and nDCG@10, taught and untaught.
type floor struct{ mrr, ndcg, bareMRR, bareNDCG float64 }

// floors are a little below what was measured. Raise them when the search gets better. The
// class nonsense counts the queries that find nothing, and is not part of "all".
var floors = map[string]floor{
	"another word":    {0.96, 0.95, 0.96, 0.95},
	"city and threat": {0.95, 0.95, 0.95, 0.95},
	"code and more":   {0.92, 0.93, 0.92, 0.93},
	"completion":      {0.92, 0.93, 0.92, 0.93},
	"country":         {0.84, 0.92, 0.84, 0.92},
	"demonym":         {0.92, 0.92, 0.92, 0.92},
	"name":            {0.95, 0.95, 0.95, 0.95},
	"namesake":        {0.93, 0.95, 0.93, 0.95},
	"other language":  {0.97, 0.96, 0.97, 0.96},
	"place":           {0.96, 0.96, 0.96, 0.96},
	"question":        {0.87, 0.92, 0.87, 0.92},
	"script":          {0.91, 0.95, 0.91, 0.95},
	"several words":   {0.94, 0.93, 0.94, 0.93},
	"typo":            {0.89, 0.91, 0.89, 0.91},
	"unknown word":    {0.91, 0.94, 0.91, 0.94},
	"nonsense":        {0.95, 0.95, 0.95, 0.95},
	"all":             {0.92, 0.93, 0.92, 0.93},
}

// bestFirst is the least share of all queries with a best document first.
const bestFirst = 0.88

// notAhead are the classes in which riskdex is not ahead of both baselines, and why.
var notAhead = map[string]string{
	"nonsense": "none of the three finds anything",
	"place":    "one report compares its own square with another city's, and has the word more often",
}

// sheet has the outcomes of all queries by what answered them: taught, untaught, plain,
// simple.
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

// check compares the outcomes with the floors.
func (s sheet) check(t *testing.T) {
	t.Helper()
	taught, untaught := s.scores("taught"), s.scores("untaught")
	for _, baseline := range []string{"plain", "simple"} {
		for class, theirs := range s.scores(baseline) {
			if got := taught[class]; notAhead[class] == "" && (got.MRR <= theirs.MRR || got.NDCG <= theirs.NDCG) {
				t.Errorf("%s: MRR %.3f and nDCG %.3f, and a %s body has %.3f and %.3f", class, got.MRR, got.NDCG, baseline, theirs.MRR, theirs.NDCG)
			}
		}
	}
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
}
