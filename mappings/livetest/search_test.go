package livetest

import (
	"errors"
	"strings"
	"testing"

	"riskdex/elastic"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/mappings/indices"
	"riskdex/report"
	"riskdex/search"
)

// feed is a small feed whose reports compete for the same words.
func feed() []record {
	city := func(code, name, country, more string) record {
		return record{kind: report.Cities, id: "city-" + code, code: code,
			body: `{"code":"` + code + `","name":"` + name + `","country":"` + country + `"` + more + `}`}
	}
	advisory := func(id, title, more string) record {
		return record{kind: report.Advisories, id: id, body: `{"title":"` + title + `"` + more + `}`}
	}
	return []record{
		city("LON", "London", "GB", `,"risk_level":{"id":"2","name":"Moderate"},"airports":"LHR,LGW","body":"Protests are frequent around Westminster. Wear a <b>coat</b> & scarf."`),
		city("LGB", "Long Beach", "US", ""),
		city("LDY", "Londonderry", "GB", ""),
		city("SAO", "São Paulo", "BR", `,"airports":["GRU"]`),
		city("FOR", "Fortaleza", "BR", `,"body":"Flights leave for Sao Paulo and London every day. Sao Paulo is far."`),
		city("BOM", "Mumbai", "IN", `,"aliases":"Bombay|Bambai"`),
		city("YYT", "St. John’s", "CA", ""),
		city("MUC", "München", "DE", ""),
		city("OSL", "Oslo", "NO", `,"body":"Lon is short for longitude on local maps."`),
		advisory("adv-strike", "Strikes in Paulo Afonso", `,"text":"Rail workers stop on Friday."`),
		advisory("adv-london", "London marathon closes roads", `,"cities":[{"name":"London","code":"LON"}]`),
		advisory("adv-heat", "Heat wave", `,"regions":[{"name":"Andalucía","code":"AN"}],"countries":["ES","PT"],"text":"Drink water. Museums are protesting."`),
		{kind: report.SpecialReports, id: "sp-1", body: `{"title":"Medicines abroad","body":"Protesters in Oslo."}`},
	}
}

func TestSearch(t *testing.T) {
	x := newIndices(t, elastictest.Prefix(t))
	fill(t, x, feed())
	all := []string{x.Alias(report.Cities), x.Alias(report.Advisories), x.Alias(report.SpecialReports)}
	find := func(t *testing.T, words string, options search.Query) search.Result {
		t.Helper()
		body, err := x.Set.SearchBody(words, options)
		if err != nil {
			t.Fatal(err)
		}
		result, err := indices.Search(t.Context(), x.Client, all, body)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	ids := func(result search.Result) string {
		var all []string
		for _, hit := range result.Hits {
			all = append(all, string(hit.ID))
		}
		return strings.Join(all, " ")
	}

	for _, c := range []struct{ words, first string }{
		{"sao paulo", "city-SAO"},
		{"SÃO PAULO", "city-SAO"},
		{"paulo", "city-SAO"},
		{"lon", "city-LON"},
		{"LON", "city-LON"},
		{"london", "city-LON"},
		{"lhr", "city-LON"},
		{"Gru", "city-SAO"},
		{"bombay", "city-BOM"},
		{"st johns", "city-YYT"},
		{"st john's", "city-YYT"},
		{"munchen", "city-MUC"},
		{"munchne", "city-MUC"},
		{"fortal", "city-FOR"},
		{"londonde", "city-LDY"},
		{"long be", "city-LGB"},
		{"london protest", "city-LON"},
		{"LON protests", "city-LON"},
		{"london marathon", "adv-london"},
		{"rail strike", "adv-strike"},
		{"andalucia", "adv-heat"},
		{"medicine", "sp-1"},
		{"coat and scarf westminster", "city-LON"},
	} {
		if got := find(t, c.words, search.Query{}); !strings.HasPrefix(ids(got)+" ", c.first+" ") {
			t.Errorf("%q finds %q, want %s first", c.words, ids(got), c.first)
		}
	}
	if got := find(t, "xylophone", search.Query{}); got.Total != 0 || len(got.Hits) != 0 {
		t.Errorf("words that are nowhere find %v", got)
	}
	if got := ids(find(t, "protest", search.Query{})); len(strings.Fields(got)) != 3 {
		t.Errorf("the forms of a word find %q, want all three reports", got)
	}
	if got := ids(find(t, "london", search.Query{Kinds: []report.Kind{report.Advisories}})); got != "adv-london" {
		t.Errorf("advisories about London are %q", got)
	}
	two := find(t, "london", search.Query{Size: 2})
	third := find(t, "london", search.Query{Size: 1, From: 2})
	if len(two.Hits) != 2 || two.Total < 3 || two.More || len(third.Hits) != 1 || strings.Contains(ids(two), ids(third)) {
		t.Errorf("the first two are %q of %d, the third is %q", ids(two), two.Total, ids(third))
	}
}

func TestSearchHit(t *testing.T) {
	x := newIndices(t, elastictest.Prefix(t))
	fill(t, x, feed())
	body, err := x.Set.SearchBody("westminster coat", search.Query{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := indices.Search(t.Context(), x.Client, []string{x.Alias(report.Cities)}, body)
	if err != nil || len(result.Hits) != 1 {
		t.Fatalf("got %v, %v", result, err)
	}
	hit := result.Hits[0]
	if hit.Kind != report.Cities || hit.ID != "city-LON" || hit.Code != "LON" || hit.Title != "London" || hit.Score <= 0 ||
		strings.Join(hit.Countries, " ") != "GB" || hit.RiskLevel != 2 || hit.RiskLabel != "Moderate" {
		t.Errorf("got %+v", hit)
	}
	if got := strings.Join(hit.Highlights["text"], " "); !strings.Contains(got, "<em>Westminster</em>") || !strings.Contains(got, "<em>coat</em> &amp; scarf") {
		t.Errorf("the text is highlighted as %q", got)
	}
	body, err = x.Set.SearchBody("heat", search.Query{})
	if err != nil {
		t.Fatal(err)
	}
	result, err = indices.Search(t.Context(), x.Client, []string{x.Alias(report.Advisories)}, body)
	if err != nil || len(result.Hits) != 1 || strings.Join(result.Hits[0].Countries, " ") != "ES PT" {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestSearchError(t *testing.T) {
	_, err := indices.Search(t.Context(), newClient(t), []string{elastictest.Prefix(t)}, []byte(`{"query":{"nonsense":{}}}`))
	answer, ok := errors.AsType[*elastic.ResponseError](err)
	if !ok || answer.Status != 400 || answer.Type == "" || answer.Reason == "" {
		t.Errorf("got %v", err)
	}
}
