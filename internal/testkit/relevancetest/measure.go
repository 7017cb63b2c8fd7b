// Package relevancetest measures how well a search finds what people mean. It puts
// documents into a real Elasticsearch as riskdex does, and compares the hits with
// judgements.
package relevancetest

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Query is what a person types, and the judgement: how well each document answers it, from
// 1 (has to do with it) to 3 (is meant).
type Query struct {
	Class  string
	Words  string
	Others []string // other spellings, which must find the same
	Grades map[string]int
}

// Best returns the highest grade that a document has.
func (q Query) Best() int {
	best := 0
	for _, grade := range q.Grades {
		best = max(best, grade)
	}
	return best
}

// Score is how well one class of queries is answered.
type Score struct {
	Queries   int
	First     float64 // share of queries with a best document first
	Within3   float64 // share of queries with a best document among the first three
	Same      float64 // share of queries whose other spellings find the same
	MRR, NDCG float64 // means over the queries
}

// Add counts one more query.
func (s *Score) Add(o Outcome) {
	n := float64(s.Queries)
	mean := func(old, value float64) float64 { return (old*n + value) / (n + 1) }
	is := func(yes bool) float64 {
		if yes {
			return 1
		}
		return 0
	}
	s.First = mean(s.First, is(o.Rank == 1))
	s.Within3 = mean(s.Within3, is(o.Rank > 0 && o.Rank <= 3))
	s.Same = mean(s.Same, is(o.Same))
	s.MRR = mean(s.MRR, o.reciprocalRank())
	s.NDCG = mean(s.NDCG, o.NDCG)
	s.Queries++
}

// Below returns which figures are below those of floor, or "" if none is.
func (s *Score) Below(floor Score) string {
	if s == nil {
		return "there are no queries"
	}
	var missed []string
	for _, figure := range []struct {
		name       string
		got, least float64
	}{
		{"first", s.First, floor.First}, {"within 3", s.Within3, floor.Within3}, {"same", s.Same, floor.Same},
		{"MRR", s.MRR, floor.MRR}, {"nDCG@10", s.NDCG, floor.NDCG},
	} {
		const rounding = 1e-9
		if figure.got < figure.least-rounding {
			missed = append(missed, fmt.Sprintf("%s is %.3f, want at least %.3f", figure.name, figure.got, figure.least))
		}
	}
	return strings.Join(missed, "; ")
}

// ByClass sums outcomes up, by class and under "all".
func ByClass(outcomes []Outcome) map[string]*Score {
	scores := map[string]*Score{}
	for _, o := range outcomes {
		for _, class := range []string{o.Query.Class, "all"} {
			if scores[class] == nil {
				scores[class] = new(Score)
			}
			scores[class].Add(o)
		}
	}
	return scores
}

// Outcome is how well one query is answered.
type Outcome struct {
	Query Query
	Hits  []string
	Rank  int // of the first document with the best grade; 0 if it is not among the hits
	NDCG  float64
	Same  bool
}

func (o Outcome) reciprocalRank() float64 {
	if o.Rank == 0 {
		return 0
	}
	return 1 / float64(o.Rank)
}

// Measure compares the first ten hits with the judgement.
func Measure(q Query, hits []string) Outcome {
	o := Outcome{Query: q, Hits: hits, Same: true}
	best := q.Best()
	o.Rank = 1 + slices.IndexFunc(hits, func(key string) bool { return q.Grades[key] == best })
	var got, ideal []int
	for _, key := range hits {
		got = append(got, q.Grades[key])
	}
	for _, grade := range q.Grades {
		ideal = append(ideal, grade)
	}
	slices.Sort(ideal)
	slices.Reverse(ideal)
	o.NDCG = gain(got) / gain(ideal)
	return o
}

// gain returns the discounted cumulative gain of the first ten grades.
func gain(grades []int) float64 {
	sum := 0.0
	for i, grade := range grades[:min(10, len(grades))] {
		sum += (math.Exp2(float64(grade)) - 1) / math.Log2(float64(i)+2)
	}
	return sum
}
