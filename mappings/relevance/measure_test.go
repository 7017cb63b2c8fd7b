package relevance

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// score is how well one class of queries is answered.
type score struct {
	queries   int
	first     float64 // share of queries with a best document first
	within3   float64 // share of queries with a best document among the first three
	same      float64 // share of queries whose other spellings find the same
	mrr, ndcg float64 // means over the queries
}

func (s *score) add(o outcome) {
	n := float64(s.queries)
	mean := func(old, value float64) float64 { return (old*n + value) / (n + 1) }
	is := func(yes bool) float64 {
		if yes {
			return 1
		}
		return 0
	}
	s.first = mean(s.first, is(o.rank == 1))
	s.within3 = mean(s.within3, is(o.rank > 0 && o.rank <= 3))
	s.same = mean(s.same, is(o.same))
	s.mrr = mean(s.mrr, o.reciprocalRank())
	s.ndcg = mean(s.ndcg, o.ndcg)
	s.queries++
}

// below says which figures are below those of floor; "" means none.
func (s *score) below(floor score) string {
	if s == nil {
		return "there are no queries"
	}
	var missed []string
	for _, figure := range []struct {
		name       string
		got, least float64
	}{
		{"first", s.first, floor.first}, {"within 3", s.within3, floor.within3}, {"same", s.same, floor.same},
		{"MRR", s.mrr, floor.mrr}, {"nDCG@10", s.ndcg, floor.ndcg},
	} {
		const rounding = 1e-9
		if figure.got < figure.least-rounding {
			missed = append(missed, fmt.Sprintf("%s is %.3f, want at least %.3f", figure.name, figure.got, figure.least))
		}
	}
	return strings.Join(missed, "; ")
}

// outcome is how well one query is answered.
type outcome struct {
	query query
	hits  []string
	rank  int // of the first document with the best grade; 0 if it is not among the hits
	ndcg  float64
	same  bool
}

func (o outcome) reciprocalRank() float64 {
	if o.rank == 0 {
		return 0
	}
	return 1 / float64(o.rank)
}

// measure compares the first ten hits with the judgement.
func measure(q query, hits []string) outcome {
	o := outcome{query: q, hits: hits, same: true}
	best := q.best()
	o.rank = 1 + slices.IndexFunc(hits, func(key string) bool { return q.grades[key] == best })
	var got, ideal []int
	for _, key := range hits {
		got = append(got, q.grades[key])
	}
	for _, grade := range q.grades {
		ideal = append(ideal, grade)
	}
	slices.Sort(ideal)
	slices.Reverse(ideal)
	o.ndcg = gain(got) / gain(ideal)
	return o
}

// gain is the discounted cumulative gain of the first ten grades.
func gain(grades []int) float64 {
	sum := 0.0
	for i, grade := range grades[:min(10, len(grades))] {
		sum += (math.Exp2(float64(grade)) - 1) / math.Log2(float64(i)+2)
	}
	return sum
}
