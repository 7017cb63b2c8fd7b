package livetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/mappings/indices"
	"riskdex/report"
	"riskdex/search"
)

// found indexes the records and returns a function that searches them and
// returns the ids of the hits, best first.
func found(t *testing.T, records []record) func(*testing.T, string, search.Query) []string {
	x := newIndices(t, elastictest.Prefix(t))
	fill(t, x, records)
	return func(t *testing.T, words string, options search.Query) []string {
		t.Helper()
		body, err := x.Set.SearchBody(words, options)
		if err != nil {
			t.Fatal(err)
		}
		result, err := indices.Search(t.Context(), x.Client,
			[]string{x.Alias(report.Cities), x.Alias(report.Advisories), x.Alias(report.SpecialReports)}, body)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, hit := range result.Hits {
			ids = append(ids, string(hit.ID))
		}
		return ids
	}
}

func TestFilters(t *testing.T) {
	advisory := func(id, more string) record {
		return record{kind: report.Advisories, id: id, body: `{"title":"Rail strike"` + more + `}`}
	}
	find := found(t, []record{
		{kind: report.Cities, id: "city", body: `{"title":"Lille","country":"FR","risk_level":2,"geo":{"lat":50.63,"lng":3.06},"body":"A strike is rare."}`},
		advisory("july", `,"countries":["FR","BE"],"risk_level":4,"duration":{"start_date":"2026-07-01","end_date":"2026-07-31"},"places":[{"name":"Roubaix","lat":50.69,"lng":3.17}]`),
		advisory("from june", `,"country":"gb","risk_level":3,"duration":{"start_date":"2026-06-01"}`),
		advisory("until may", `,"country":"DE","risk_level":"Extreme","duration":{"end_date":"2026-05-31"}`),
		advisory("always", ``),
	})
	day := func(month time.Month, d, hour int) *search.Period {
		at := time.Date(2026, month, d, hour, 0, 0, 0, time.UTC)
		return &search.Period{Start: at, End: at}
	}
	for name, c := range map[string]struct {
		options search.Query
		want    string
	}{
		"none":               {search.Query{}, "always city from june july until may"},
		"kind":               {search.Query{Kinds: []report.Kind{report.Cities}}, "city"},
		"country":            {search.Query{Countries: []string{"fr"}}, "city july"},
		"countries":          {search.Query{Countries: []string{"BE", "GB"}}, "from june july"},
		"risk":               {search.Query{RiskLevel: 3}, "from june july until may"},
		"extreme":            {search.Query{RiskLevel: 5}, "until may"},
		"near a city":        {search.Query{Near: &search.Near{Latitude: 50.63, Longitude: 3.06, Kilometres: 3}}, "city"},
		"near a place in it": {search.Query{Near: &search.Near{Latitude: 50.69, Longitude: 3.17, Kilometres: 3}}, "july"},
		"near both":          {search.Query{Near: &search.Near{Latitude: 50.66, Longitude: 3.1, Kilometres: 30}}, "city july"},
		"in July":            {search.Query{Valid: day(time.July, 10, 0)}, "always city from june july"},
		"on the last day":    {search.Query{Valid: day(time.July, 31, 23)}, "always city from june july"},
		"the day after":      {search.Query{Valid: day(time.August, 1, 0)}, "always city from june"},
		"in May":             {search.Query{Valid: day(time.May, 31, 12)}, "always city until may"},
		"all of it": {search.Query{
			Kinds: []report.Kind{report.Advisories}, Countries: []string{"FR", "GB"}, RiskLevel: 4, Valid: day(time.July, 10, 0),
		}, "july"},
	} {
		got := find(t, "strike", c.options)
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: found %q, want %s", name, got, c.want)
		}
	}
}

// TestRecencyOnlyNudges: of two equal advisories the newer one comes first; a better match
// comes before a newer one; and a city's age does not matter.
func TestRecencyOnlyNudges(t *testing.T) {
	recent, old := time.Now().AddDate(0, 0, -2).Format(time.DateOnly), "2019-01-01"
	find := found(t, []record{
		{kind: report.Advisories, id: "a-old", body: `{"title":"Strike at the port of Ravenna","published_at":"` + old + `"}`},
		{kind: report.Advisories, id: "b-new", body: `{"title":"Strike at the port of Ravenna","published_at":"` + recent + `"}`},
		{kind: report.Advisories, id: "c-updated", body: `{"title":"Ferry strike","published_at":"` + old + `","updated_at":"` + recent + `"}`},
		{kind: report.Advisories, id: "b-ferry", body: `{"title":"Ferry strike","published_at":"` + old + `"}`},
		{kind: report.Advisories, id: "z-other", body: `{"title":"Weather at sea","text":"The port may close by a strike.","published_at":"` + recent + `"}`},
		{kind: report.Cities, id: "c1", body: `{"title":"Ravenna","published_at":"` + old + `"}`},
	})
	for words, want := range map[string]string{
		"port strike":  "b-new a-old",
		"ferry strike": "c-updated b-ferry",
		"Ravenna":      "c1 b-new a-old",
	} {
		if got := strings.Join(find(t, words, search.Query{}), " "); !strings.HasPrefix(got, want) {
			t.Errorf("%q finds %q, want %q first", words, got, want)
		}
	}
}
