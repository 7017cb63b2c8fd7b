package livetest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/mappings"
	"riskdex/report"
	"riskdex/search"
)

// asked indexes the records and returns a function that sends bodies.
func asked(t *testing.T, records []record) (*mappings.Set, func(*testing.T, []byte, error) search.Result) {
	x := newIndices(t, elastictest.Prefix(t))
	fill(t, x, records)
	return x.Set, func(t *testing.T, body []byte, err error) search.Result {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		result, err := x.Search(t.Context(), body)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
}

func titles(result search.Result) string {
	var all []string
	for _, hit := range result.Hits {
		all = append(all, hit.Title)
	}
	return strings.Join(all, ", ")
}

// TestCompletion: from four letters on, completion tolerates a wrong one. Names that start
// as was typed come first, and among them those with the marks that were typed.
func TestCompletion(t *testing.T) {
	city := func(id, title string) record {
		return record{kind: report.Cities, id: id, body: `{"title":"` + title + `"}`}
	}
	set, ask := asked(t, []record{
		city("1", "Lodi"), city("2", "Łódź"), city("3", "London"), city("4", "Kuala Lumpur"), city("5", "Barcelona"),
		city("6", "Barcs"), city("7", "Orlando"), city("8", "Orebić"), city("9", "Örebro"), city("10", "Johannesburg"),
	})
	for words, want := range map[string]string{
		"łód":        "Łódź, Lodi",
		"ore":        "Orebić, Örebro",
		"öre":        "Örebro, Orebić",
		"lond":       "London",
		"lodno":      "London",
		"kualla lu":  "Kuala Lumpur",
		"barcal":     "Barcelona",
		"barcelonna": "Barcelona",
		"johanes":    "Johannesburg",
		"lno":        "", // three letters may be the start of anything
		"xyzz":       "",
	} {
		body, err := set.CompleteBody(words, search.Query{})
		if got := titles(ask(t, body, err)); got != want && !strings.HasPrefix(got, want+", ") || want == "" && got != "" {
			t.Errorf("%q completes to %q, want %q first", words, got, want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	x := newIndices(t, elastictest.Prefix(t))
	fill(t, x, append(feed(), record{kind: report.Advisories, id: "adv-lion", body: `{"title":"Lion at large","text":"Earthquakes are rare. Crime is not."}`},
		record{kind: report.Cities, id: "a-nice", body: `{"title":"Nice","country":"FR","geo":{"lat":43.7,"lng":7.27}}`},
		record{kind: report.Cities, id: "b-lyon", body: `{"title":"Lyon","country":"FR","geo":{"lat":45.76,"lng":4.84}}`}))
	for words, want := range map[string]string{
		"lodnon":          "london",
		"westminstre":     "westminster",
		"oslo earthqakes": "oslo earthquakes",
		"london":          "",
		"munchen":         "",
		"LHR":             "", // a code
		"bombay":          "", // another name, unknown to the index of the advisories
		"fortal":          "", // the start of a name
		"oslo xylophone":  "",
		"xylophone":       "",
		"quake":           "", // another word for what a report says
	} {
		found, err := x.Ask(t.Context(), search.Query{Words: words})
		if got := found.DidYouMean; got != want || err != nil {
			t.Errorf("%q: got %q, %v, want %q", words, got, err, want)
		}
	}
	for words, want := range map[string]string{
		"grenoble":          "Grenoble: Lyon",
		"Grenoble protests": "Grenoble: Lyon",
		"crimea":            "Crimea: Nice", // and nothing on crime
		"madrid strike":     "Madrid: Heat wave",
		"iceland museums":   "Iceland: Heat wave",
		"grenoble london":   "Grenoble: London",
		"bombay":            ": Mumbai",
		"england":           ": London",
		"spain":             ": Heat wave",
	} {
		found, err := x.Ask(t.Context(), search.Query{Words: words, Facets: true, Kinds: []report.Kind{report.Cities, report.Advisories}})
		got := ": "
		if found.NoReport != nil {
			got = found.NoReport.Name + got
		}
		if len(found.Hits) > 0 {
			got += found.Hits[0].Title
		}
		if got != want || err != nil {
			t.Errorf("%q: got %s, %v, want %s", words, got, err, want)
		}
	}
	for _, q := range []search.Query{ // which have other reports on these places
		{Words: "lyon", Kinds: []report.Kind{report.SpecialReports}, Facets: true}, {Words: "london", Countries: []string{"FR"}},
		{Words: "lyon", RiskLevel: 5}, {Words: `"tear gas" lyon`},
	} {
		if found, err := x.Ask(t.Context(), q); found.NoReport != nil || err != nil {
			t.Errorf("%+v: no report on %+v, %v", q, found.NoReport, err)
		}
	}
}

func TestFacets(t *testing.T) {
	set, ask := asked(t, feed())
	body, err := set.SearchBody("london", search.Query{Size: 1})
	got := ask(t, body, err)
	want := "map[country:[{GB 2} {BR 1}] kind:[{cities 3} {advisories 1}] risk_level:[{2 1}]]"
	if text := fmt.Sprint(got.Facets); text != want {
		t.Errorf("got %s of %d hits, want %s", text, got.Total, want)
	}
}

func TestNearestFirst(t *testing.T) {
	at := func(id string, lat, lon float64, text string) record {
		return record{kind: report.Cities, id: id, body: fmt.Sprintf(`{"title":%q,"geo":{"lat":%v,"lng":%v},"body":"Hospital. %s"}`, id, lat, lon, text)}
	}
	set, ask := asked(t, []record{
		at("far", 52, 0, "A hospital is a hospital: hospital."), at("near", 51.51, 0, ""), at("middle", 51.7, 0, ""),
		{kind: report.Advisories, id: "places", body: `{"title":"Hospital","places":[{"name":"A","lat":51.6,"lng":0}]}`},
	})
	near := &search.Near{Latitude: 51.5, Longitude: 0, Kilometres: 100}
	body, err := set.SearchBody("hospital", search.Query{Near: near, Sort: search.Nearest})
	if got := titles(ask(t, body, err)); got != "near, Hospital, middle, far" {
		t.Errorf("nearest first are %s", got)
	}
	if _, err := set.SearchBody("hospital", search.Query{Sort: search.Nearest}); err == nil {
		t.Error("no error for the nearest without a place")
	}
}

// TestAnswersAreSmall: a page of hits has what a list shows, however long the reports are
// and however many names riskdex knows.
func TestAnswersAreSmall(t *testing.T) {
	x := newIndices(t, elastictest.Prefix(t))
	var records []record
	for i := range 10 {
		names := `"Ciudad de los Reyes"`
		for n := range 300 {
			names += fmt.Sprintf(`,"alias %d of Lima"`, n)
		}
		records = append(records, record{kind: report.Cities, id: fmt.Sprint(i), body: `{"title":"Lima","country":"PE","aliases":[` + names +
			`],"summary":"` + strings.Repeat("Lima is a city by the sea. ", 300) + `","body":"` + strings.Repeat("Much is said of Lima. ", 2000) + `"}`})
	}
	records = append(records, record{kind: report.Advisories, id: "strike", body: `{"title":"Strike in Lima, Paris and London"}`})
	fill(t, x, records)
	body, err := x.Set.SearchBody("lima", search.Query{Size: 11})
	if err != nil {
		t.Fatal(err)
	}
	answer := must(t, x.Client, esapi.SearchRequest{Index: []string{x.Alias(report.Cities), x.Alias(report.Advisories)}, Body: bytes.NewReader(body)})
	if len(answer) > 25_000 || !bytes.Contains(answer, []byte("…")) {
		t.Errorf("an answer of %d bytes: %.500s", len(answer), answer)
	}
	if !bytes.Contains(answer, []byte("Strike in Lima, Paris")) || bytes.Contains(answer, []byte("_known\"")) {
		t.Errorf("the strike is missing, or names that nobody shows are there: %s", answer)
	}
}
