package livetest

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
	"riskdex/search"
)

// wide is a feed that does not say what its cities and countries are called elsewhere. Of
// two namesakes the smaller one comes first, so that an order by chance is wrong.
func wide() []record {
	city := func(id, code, name, country string) record {
		return record{kind: report.Cities, id: id, code: code, body: `{"code":"` + code + `","name":"` + name + `","country":"` + country + `","body":"Calm."}`}
	}
	advisory := func(id, title, country string) record {
		return record{kind: report.Advisories, id: id, body: `{"title":"` + title + `","country":"` + country + `","body":"Take care."}`}
	}
	return []record{
		{kind: report.Cities, id: "c01", body: `{"name":"London","country":"Canada","body":"London is calm. London is a city. London."}`},
		city("c02", "LON", "London", "GB"),
		city("c03", "", "Munich", "DEU"),
		city("c04", "BER", "Berlin", "Germany"),
		city("c05", "TYO", "Tokyo", "JP"),
		city("c06", "BOM", "Mumbai", "IN"),
		city("c07", "NCE", "Nice", "FR"),
		city("c08", "PAR", "Paris", "FR"),
		city("c09", "PPT", "Papeete", "PF"),
		city("c12", "VAN", "Van", "TR"),
		city("c13", "YVR", "Vancouver", "CA"),
		city("c14", "SAN", "San Diego", "US"),
		city("c15", "SCL", "Santiago", "CL"),
		{kind: report.Cities, id: "c10", body: `{"name":"Small town","country":"SE","aliases":"Fr|De","body":"Calm."}`},
		city("c11", "", "Parisot", "FR"),
		advisory("a01", "Strikes in France", "FR"),
		advisory("a02", "France: travel advice", "FR"),
		advisory("a03", "French Polynesia", "PF"),
		advisory("a04", "Germany - Level 1: Exercise normal precautions", "DE"),
		advisory("a05", "Japan", "JPN"),
		{kind: report.Advisories, id: "a06", body: `{"title":"Travel advice for India","body":"Take care."}`},
	}
}

// TestSearchKnowsTheWorld: cities and countries are found by their names in other languages
// and scripts, though the feed does not have them, and what most people mean comes first.
func TestSearchKnowsTheWorld(t *testing.T) {
	x := newIndices(t, elastictest.Prefix(t))
	fill(t, x, wide())
	for _, c := range []struct{ words, first string }{
		{"東京", "c05"}, {"Londres", "c02"}, {"Bombay", "c06"}, {"Мюнхен", "c03"}, {"münchen", "c03"}, {"Лондон", "c02 c01"},
		{"London", "c02 c01"}, {"London wibble", "c02 c01"}, {"wibble Londres", "c02"},
		{"France", "a02 c08 c07"}, {"Frankreich", "a02 c08 c07"}, {"法国", "a02 c08 c07"}, {"Франция", "a02 c08 c07"}, {"francia", "a02 c08"},
		{"FR", "a02 c08 c07"}, {"fra", "a02 c08 c07"}, {"French", "a02 c08 c07"}, {"french polynesia", "a03 c09"},
		{"DE", "a04 c04 c03"}, {"Deutschland", "a04 c04 c03"}, {"German", "a04 c04 c03"}, {"日本", "a05 c05"}, {"JPN", "a05 c05"},
		{"India", "a06 c06"}, {"Indian", "a06 c06"},
		{"Bayern", "c03"}, {"Бавария", "c03"}, {"bavarian beer", "c03"}, {"Kalifornien", "c14"}, {"california surfing", "c14"}, {"カリフォルニアの洪水", "c14"},
	} {
		if got := first(t, x, x.Set.SearchBody, c.words); !strings.HasPrefix(got+" ", c.first+" ") {
			t.Errorf("%q finds %q, want %s first", c.words, got, c.first)
		}
	}
	for _, c := range []struct{ typed, first string }{
		{"lon", "c02 c01"}, {"Lond", "c02 c01"}, {"Münc", "c03"}, {"мюнх", "c03"}, {"par", "c08 c11"}, {"fran", "a02"}, {"frankr", "a02"}, {"ger", "a04"},
		{"va", "c13 c12"}, {"van", "c13 c12"}, {"VAN", "c12 c13"}, {"san", "c15 c14"}, {"SAN", "c14 c15"}, // what is better known comes first, but for a code in capitals
	} {
		if got := first(t, x, x.Set.CompleteBody, c.typed); !strings.HasPrefix(got+" ", c.first+" ") {
			t.Errorf("%q is completed to %q, want %s first", c.typed, got, c.first)
		}
	}
}

// TestRareWord: a word that few reports have finds them, whatever else was typed. One that many have
// does not.
func TestRareWord(t *testing.T) {
	x := newIndices(t, elastictest.Prefix(t))
	records := []record{{kind: report.Cities, id: "rio", body: `{"name":"Rio de Janeiro","country":"BR","body":"Copacabana has a beach and a harbour."}`}}
	for i := range 12 {
		records = append(records, record{kind: report.Cities, id: "c" + strconv.Itoa(i), body: `{"name":"Town ` + strconv.Itoa(i) + `","country":"SE","body":"It has a harbour."}`})
	}
	fill(t, x, records)
	for words, want := range map[string]string{"copacabana picnic": "rio", "harbour picnic": "", "wibble picnic": ""} {
		if got := first(t, x, x.Set.SearchBody, words); got != want {
			t.Errorf("%q finds %q, want %q", words, got, want)
		}
	}
}

// TestReportOnTheWholeComesFirst: the city of an airport comes before what happens there, and the
// report on a country before the city of the same name, however the feed calls them.
func TestReportOnTheWholeComesFirst(t *testing.T) {
	x := newIndices(t, elastictest.Prefix(t))
	of := func(kind report.Kind, id, body string) record { return record{kind: kind, id: id, body: body} }
	fill(t, x, []record{
		of(report.Cities, "nyc", `{"name":"New York City","country":"US","body":"Calm."}`),
		of(report.Advisories, "ferry", `{"title":"Ferry sinks off New York City","country":"US","cities":[{"name":"New York City"}]}`),
		of(report.Cities, "panama-city", `{"name":"Panamá","country":"PA","body":"Calm."}`),
		of(report.Advisories, "panama", `{"title":"Conseils aux voyageurs : Panama","country":"PA"}`),
		of(report.Cities, "abidjan", `{"name":"Abidjan","country":"CI","body":"Calm."}`),
		of(report.Advisories, "ivory-coast", `{"title":"Côte d'Ivoire (Ivory Coast)","country":"CI"}`),
		of(report.Advisories, "russia", `{"title":"Russia","country":"RU"}`), // Nga in Vietnamese
		of(report.Advisories, "nigeria", `{"title":"Nigeria","country":"NG"}`),
		of(report.Cities, "kul", `{"name":"Kuala Lumpur","country":"MY","body":"Calm."}`),
		of(report.Cities, "nbo", `{"name":"Nairobi","country":"KE","body":"Calm."}`),
		of(report.Advisories, "march", `{"title":"Demonstrators gather at the station","cities":[{"name":"Nairobi"}],"country":"KE"}`),
		of(report.Advisories, "riot", `{"title":"Riots elsewhere","country":"FR"}`),
	})
	for words, want := range map[string]string{
		"JFK": "nyc ferry", "JFK wibble": "nyc ferry", "Panama": "panama panama-city", "Ivory Coast": "ivory-coast abidjan", "NGA": "nigeria", "nga": "russia",
		"KL": "kul", "KualaLumpur": "kul", "Nairobbi protest": "march", "Kenyya protest": "march", "Nairobbi flurble": "nbo", "wibblee protest": "",
	} {
		if got := first(t, x, x.Set.SearchBody, words); !strings.HasPrefix(got+" ", want+" ") {
			t.Errorf("%q finds %q, want %s first", words, got, want)
		}
	}
}

// TestGazetteerOff: a gazetteer that is switched off adds nothing.
func TestGazetteerOff(t *testing.T) {
	x := newIndices(t, elastictest.Prefix(t))
	set, err := mappings.LoadKnowing(mappings.Files(), mappings.Gazetteer{Off: true})
	if err != nil {
		t.Fatal(err)
	}
	x.Set = set
	fill(t, x, wide())
	for words, want := range map[string]string{"東京": "", "Мюнхен": "", "France": "a02", "FR": "a02", "DEU": "a04"} {
		if got := first(t, x, x.Set.SearchBody, words); want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%q finds %q, want %q", words, got, want)
		}
	}
}

// TestOrderIsRepeatable: reports that are equally good have one order, in every build of
// the index and on every page.
func TestOrderIsRepeatable(t *testing.T) {
	var records []record
	for n := range 60 {
		records = append(records, record{kind: report.Kinds()[n%3], id: "same-" + strconv.Itoa(n/3), body: `{"title":"Road closures","country":"FR"}`})
	}
	var orders []string
	for range 2 {
		x := newIndices(t, elastictest.Prefix(t))
		fill(t, x, records)
		for _, make := range []makeBody{x.Set.SearchBody, x.Set.CompleteBody} {
			var paged []string
			for from := 0; from < len(records); from += 7 {
				paged = append(paged, page(t, x, make, "road closures", search.Query{Size: 7, From: from})...)
			}
			whole := page(t, x, make, "road closures", search.Query{Size: len(records)})
			if !slices.Equal(paged, whole) || len(whole) != len(records) {
				t.Errorf("page by page the order of %d is %v, and at once %v", len(records), paged, whole)
			}
			orders = append(orders, strings.Join(whole, " "))
		}
		slices.Reverse(records)
	}
	if orders[0] != orders[2] || orders[1] != orders[3] {
		t.Errorf("two builds of the same data have the orders\n%s", strings.Join(orders, "\n"))
	}
}

type makeBody func(string, search.Query) ([]byte, error)

// page returns the hits of a page, as kind/id.
func page(t *testing.T, x *indices.Indices, make makeBody, words string, options search.Query) []string {
	t.Helper()
	body, err := make(words, options)
	if err != nil {
		t.Fatal(err)
	}
	result, err := x.Search(t.Context(), body)
	if err != nil {
		t.Fatal(err)
	}
	var hits []string
	for _, hit := range result.Hits {
		hits = append(hits, string(hit.Kind)+"/"+string(hit.ID))
	}
	return hits
}

// first returns the ids of the first page of hits.
func first(t *testing.T, x *indices.Indices, make makeBody, words string) string {
	t.Helper()
	var ids []string
	for _, hit := range page(t, x, make, words, search.Query{}) {
		_, id, _ := strings.Cut(hit, "/")
		ids = append(ids, id)
	}
	return strings.Join(ids, " ")
}
