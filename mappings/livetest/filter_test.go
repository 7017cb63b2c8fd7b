package livetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/internal/elasticserver/elastictest"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// found indexes the records and returns a function that searches them and
// returns the ids of the hits, best first.
func found(t *testing.T, records []record) func(*testing.T, string, mappings.SearchOptions) []string {
	x := newIndices(t, elastictest.Prefix(t))
	fill(t, x, records)
	return func(t *testing.T, words string, options mappings.SearchOptions) []string {
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
	search := found(t, []record{
		{kind: report.Cities, id: "city", body: `{"title":"Lille","country":"FR","risk_level":2,"geo":{"lat":50.63,"lng":3.06},"body":"A strike is rare."}`},
		advisory("july", `,"countries":["FR","BE"],"risk_level":4,"duration":{"start_date":"2026-07-01","end_date":"2026-07-31"},"places":[{"name":"Roubaix","lat":50.69,"lng":3.17}]`),
		advisory("from june", `,"country":"gb","risk_level":3,"duration":{"start_date":"2026-06-01"}`),
		advisory("until may", `,"country":"DE","risk_level":"Extreme","duration":{"end_date":"2026-05-31"}`),
		advisory("always", ``),
	})
	day := func(month time.Month, d, hour int) *mappings.Period {
		at := time.Date(2026, month, d, hour, 0, 0, 0, time.UTC)
		return &mappings.Period{Start: at, End: at}
	}
	for name, c := range map[string]struct {
		options mappings.SearchOptions
		want    string
	}{
		"none":               {mappings.SearchOptions{}, "always city from june july until may"},
		"kind":               {mappings.SearchOptions{Kinds: []report.Kind{report.Cities}}, "city"},
		"country":            {mappings.SearchOptions{Countries: []string{"fr"}}, "city july"},
		"countries":          {mappings.SearchOptions{Countries: []string{"BE", "GB"}}, "from june july"},
		"risk":               {mappings.SearchOptions{RiskLevel: 3}, "from june july until may"},
		"extreme":            {mappings.SearchOptions{RiskLevel: 5}, "until may"},
		"near a city":        {mappings.SearchOptions{Near: &mappings.Near{Latitude: 50.63, Longitude: 3.06, Kilometres: 3}}, "city"},
		"near a place in it": {mappings.SearchOptions{Near: &mappings.Near{Latitude: 50.69, Longitude: 3.17, Kilometres: 3}}, "july"},
		"near both":          {mappings.SearchOptions{Near: &mappings.Near{Latitude: 50.66, Longitude: 3.1, Kilometres: 30}}, "city july"},
		"in July":            {mappings.SearchOptions{Valid: day(time.July, 10, 0)}, "always city from june july"},
		"on the last day":    {mappings.SearchOptions{Valid: day(time.July, 31, 23)}, "always city from june july"},
		"the day after":      {mappings.SearchOptions{Valid: day(time.August, 1, 0)}, "always city from june"},
		"in May":             {mappings.SearchOptions{Valid: day(time.May, 31, 12)}, "always city until may"},
		"all of it": {mappings.SearchOptions{
			Kinds: []report.Kind{report.Advisories}, Countries: []string{"FR", "GB"}, RiskLevel: 4, Valid: day(time.July, 10, 0),
		}, "july"},
	} {
		got := search(t, "strike", c.options)
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
	search := found(t, []record{
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
		if got := strings.Join(search(t, words, mappings.SearchOptions{}), " "); !strings.HasPrefix(got, want) {
			t.Errorf("%q finds %q, want %q first", words, got, want)
		}
	}
}
