package livetest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/report"
	"riskdex/search"
)

// TestScores divides the scores of many hits: what the reasons add is the score, each is a clause
// of search.json by its name, and says where it found something.
func TestScores(t *testing.T) {
	x := newIndices(t, elastictest.Prefix(t))
	fill(t, x, feed())
	explained := func(words string, key report.Key) (search.Score, bool) {
		t.Helper()
		score, err := x.Score(t.Context(), search.Query{Words: words}, key)
		if err != nil {
			t.Fatal(err)
		}
		return score, score.Found
	}
	hits := 0
	for _, words := range []string{
		"LON", "london", "lhr", "sao paulo", "bombay", "munchne", "protests in london", "heat wave", "strike paulo", "GB", "brazil", "Friday rail", "st john's", "muse",
	} {
		body, err := x.Set.SearchBody(words, search.Query{})
		if err != nil {
			t.Fatal(err)
		}
		result, err := x.Search(t.Context(), body)
		if err != nil {
			t.Fatal(err)
		}
		for _, hit := range result.Hits {
			hits++
			score, found := explained(words, report.Key{Kind: hit.Kind, ID: hit.ID})
			sum := 0.0
			for _, reason := range score.Reasons {
				sum += reason.Score
				if reason.Clause == "" || len(reason.Terms) == 0 {
					t.Errorf("%s finds %s by a clause without a name or a place: %+v", words, hit.ID, reason)
				}
			}
			if !found || math.Abs(score.Total-hit.Score) > 1e-3*hit.Score || math.Abs(sum-score.Total) > 1e-3*hit.Score {
				t.Errorf("%s finds %s with %v, which is explained as %v, of which the reasons make %v: %+v", words, hit.ID, hit.Score, score.Total, sum, score.Reasons)
			}
		}
	}
	if hits < 20 {
		t.Errorf("only %d hits were explained", hits)
	}

	score, _ := explained("LON", report.Key{Kind: report.Cities, ID: "city-LON"})
	first := score.Reasons[0]
	if first.Clause != "code of the city or of its airport" || first.Score != 3000 || len(first.Terms) != 1 || !slices.Equal(first.Terms[0].Fields, []string{"code.typed", "code"}) || strings.Join(first.Terms[0].Words, " ") != "LON lon" {
		t.Errorf("LON is found by %+v", first)
	}
	score, _ = explained("closed roads", report.Key{Kind: report.Advisories, ID: "adv-london"})
	if !slices.ContainsFunc(score.Reasons, func(r search.Reason) bool {
		return slices.ContainsFunc(r.Terms, func(term search.Term) bool {
			return slices.Contains(term.Fields, "title") && slices.Contains(term.Words, "road")
		})
	}) {
		t.Errorf("the title is not among what found it: %+v", score.Reasons)
	}
	if score, found := explained("zebra", report.Key{Kind: report.Cities, ID: "city-LON"}); found {
		t.Errorf("what a search does not find is explained: %+v", score)
	}
	if _, found := explained("london", report.Key{Kind: report.Cities, ID: "no such"}); found {
		t.Error("what is not there is explained")
	}
}
