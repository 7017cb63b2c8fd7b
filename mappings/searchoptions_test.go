package mappings

import (
	"math"
	"strings"
	"testing"
	"time"

	"riskdex/report"
	"riskdex/search"
)

func TestSearchFilters(t *testing.T) {
	s := builtinSet(t)
	noon := time.Date(2026, 7, 30, 14, 0, 0, 0, time.FixedZone("", 2*60*60))
	options := search.Query{
		Kinds: []report.Kind{report.Cities}, Countries: []string{"fr", "GB"}, RiskLevel: 3,
		Near: &search.Near{Latitude: 51.5, Longitude: -0.12, Kilometres: 20}, Valid: &search.Period{Start: noon, End: noon.Add(time.Hour)},
	}
	for name, make := range map[string]func(string, search.Query) ([]byte, error){"search": s.SearchBody, "complete": s.CompleteBody} {
		body, err := make("x", options)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			`{"terms":{"kind":["cities"]}}`, `{"terms":{"country":["fr","GB"]}}`, `{"range":{"risk_level":{"gte":3}}}`,
			`{"geo_distance":{"distance":"20km","location":{"lat":51.5,"lon":-0.12}}}`,
			`{"geo_distance":{"distance":"20km","places.location":{"lat":51.5,"lon":-0.12}}}`,
			`{"range":{"starts_at":{"gt":"2026-07-30T13:00:00Z"}}}`, `{"range":{"ends_at":{"lt":"2026-07-30T12:00:00Z"}}}`,
		} {
			if !strings.Contains(string(body), want) {
				t.Errorf("%s: %s is not in %s", name, want, body)
			}
		}
	}
}

func TestSearchOptionsThatCannotBe(t *testing.T) {
	s := builtinSet(t)
	for want, options := range map[string]search.Query{
		"first 10000":   {From: 9_995},
		"not available": {Size: -1},
		"ISO 3166":      {Countries: []string{"France"}},
		"risk level 6":  {RiskLevel: 6},
		"risk level -1": {RiskLevel: -1},
		"91,0 is no":    {Near: &search.Near{Latitude: 91, Longitude: 0, Kilometres: 1}},
		"NaN,0 is no":   {Near: &search.Near{Latitude: math.NaN(), Longitude: 0, Kilometres: 1}},
		"0,-181 is no":  {Near: &search.Near{Latitude: 0, Longitude: -181, Kilometres: 1}},
		"0 km":          {Near: &search.Near{Latitude: 0, Longitude: 0, Kilometres: 0}},
		"+Inf km":       {Near: &search.Near{Latitude: 0, Longitude: 0, Kilometres: math.Inf(1)}},
		"ends before":   {Valid: &search.Period{Start: time.Unix(2, 0), End: time.Unix(1, 0)}},
	} {
		_, err := s.SearchBody("x", options)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %s", options, err, want)
		}
	}
}

func TestCountriesFile(t *testing.T) {
	for body, want := range map[string]string{
		`{}`:                      `"names" is missing`,
		`{"names":{"fr":["x"]}}`:  `"fr" is not the code`,
		`{"names":{"FRA":["x"]}}`: `"FRA" is not the code`,
		`{"names":{"FR":[]}}`:     "FR has no name",
		`{"names":{"FR":[""]}}`:   "FR has no name",
		`{"name":{}}`:             "line 1",
	} {
		if _, err := parseCountries([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", body, err, want)
		}
	}
	if n := len(builtinSet(t).countries.Names); n < 249 {
		t.Errorf("only %d countries have a name", n)
	}
}
