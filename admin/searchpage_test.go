package admin_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"riskdex/admin"
	"riskdex/report"
	"riskdex/search"
)

// TestSearchPage follows the links and fields of the page.
func TestSearchPage(t *testing.T) {
	d := openStatusDesk(t)
	d.found = search.Result{
		Total: 25, DidYouMean: "sydney", NoReport: &search.Absent{Name: "Kiama", Countries: []string{"AU"}, Location: &search.Point{Latitude: 51.5, Longitude: -0.12}}, Request: search.Request{Path: "/a,b/_search", Body: []byte(`{"size":10}`)},
		Facets: map[string][]search.Count{"risk_level": {{Value: "3", Documents: 7}}, "threats": {{Value: "unrest", Documents: 2}, {Value: "crime", Documents: 4}}},
		Hits:   []search.Hit{{ID: "a&b", Score: 1234.56, Fields: search.Fields{Kind: report.Cities, Title: "Sydney", Threats: []string{"crime"}, RiskLevel: 4, RiskLabel: "High", Location: &search.Point{Latitude: 51.6, Longitude: -0.12}}}},
	}
	d.score = search.Score{Found: true, Total: 10, Raw: []byte(`{"value":10}`), Reasons: []search.Reason{
		{Clause: "its own code", Score: 7.5, Terms: []search.Term{{Fields: []string{"code"}, Words: []string{"syd"}, Score: 7.5}}}, {Score: 2.5},
	}}
	const path = "/search?q=sidney+x&kind=cities&kind=advisories&country=fr,%20BE&risk_at_least=2&threat=crime&from=10&sort=relevance&near=51.5,-0.12&valid_on=2026-07-30"
	page, _ := d.read(http.StatusOK, path)
	page = strings.ReplaceAll(page, "&#43;", "+")
	want := search.Query{
		Words: "sidney x", Kinds: []report.Kind{report.Cities, report.Advisories}, Countries: []string{"FR", "BE"},
		RiskLevel: 2, Threats: []string{"crime"}, From: 10, Sort: search.Relevance, Facets: true,
		Near:  &search.Near{Latitude: 51.5, Longitude: -0.12, Kilometres: 50},
		Valid: &search.Period{Start: time.Date(2026, 7, 30, 0, 0, 0, 0, time.UTC), End: time.Date(2026, 7, 30, 23, 59, 59, 999e6, time.UTC)},
	}
	if len(d.searched) != 1 || !reflect.DeepEqual(d.searched[0], want) {
		t.Errorf("searched for %+v, want %+v", d.searched, want)
	}
	const narrowed = "&amp;kind=cities&amp;kind=advisories&amp;near=51.5%2C-0.12&amp;q=sidney+x&amp;risk_at_least=2&amp;sort=relevance"
	for _, want := range []string{
		`value="sidney x"`, `value="cities" checked`, `value="special-reports">`, `value="fr, BE"`, `value="2" selected`, `<option selected>crime`, `<option selected>relevance`, `name="near" value="51.5,-0.12"`, `name="valid_on" value="2026-07-30"`, `<span class="risk risk-4">High, risk 4 of 5</span> · 11.1 km away`, `aria-label="Map; 11: Sydney"`,
		"11 to 11 of 25 found", "No report on Kiama (AU). Nearest: Sydney, 11 km.", "Sydney", "· crime", "score 1,234.5", "POST /a,b/_search", "&#34;size&#34;: 10",
		`href="/search?country=fr%2C+BE&amp;kind=cities&amp;kind=advisories&amp;near=51.5%2C-0.12&amp;q=sydney&amp;risk_at_least=2&amp;sort=relevance&amp;threat=crime&amp;valid_on=2026-07-30"`,                                 // did you mean
		`href="/search?country=fr%2C+BE&amp;from=20` + narrowed + `&amp;threat=crime&amp;valid_on=2026-07-30" rel="next"`, `href="/search?country=fr%2C+BE` + narrowed + `&amp;threat=crime&amp;valid_on=2026-07-30" rel="prev"`, // paging
		`href="/search?country=fr%2C+BE` + narrowed + `&amp;threat=crime&amp;threat=unrest&amp;valid_on=2026-07-30"><bdi>unrest`, `href="/search?country=fr%2C+BE` + narrowed + `&amp;valid_on=2026-07-30" aria-current="true"><bdi>crime`,
		`<li><bdi>3</bdi> <span class="soft">7</span></li>`,
		`href="/search?country=fr%2C+BE&amp;explain=cities%2Fa%26b&amp;from=10` + narrowed + `&amp;threat=crime&amp;valid_on=2026-07-30#explained"`,
		`href="/document?kind=cities&amp;id=a%26b"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "its own code") {
		t.Error("a score is explained that nobody asked for")
	}
	explained, _ := d.read(http.StatusOK, path+"&explain=cities/a%26b")
	for _, want := range []string{"its own code", "75 %", "code: <bdi>syd</bdi>", "another clause", "not said", "&#34;value&#34;: 10"} {
		if !strings.Contains(explained, want) {
			t.Errorf("the explanation lacks %q", want)
		}
	}
	d.score = search.Score{}
	if page, _ = d.read(http.StatusOK, path+"&explain=cities/7"); !strings.Contains(page, "does not find cities") {
		t.Error("the page does not say that a document is not found")
	}
}

// TestSearchPageSaysWhatIsWrong: nothing is searched for, and the form keeps what was typed.
func TestSearchPageSaysWhatIsWrong(t *testing.T) {
	d := openStatusDesk(t)
	for query, want := range map[string]string{
		"q=x&risk_at_least=high": "must be a whole number",
		"q=x&from=-1":            "must be a whole number",
		"q=x&kind=towns":         "towns",
		"q=x&explain=towns/1":    "Say which kind",
		"q=x&explain=cities/":    "Say which document",
		"q=wrong":                "that &lt;b&gt;cannot",
		"q=x&country=" + strings.Repeat("A", 2001): "too long",
		"q=x&risk=3": "no parameter",
	} {
		page, _ := d.read(http.StatusBadRequest, "/search?"+query)
		if !strings.Contains(page, want) || !strings.Contains(page, `name="q" value="`) {
			t.Errorf("%s: the page does not say %q", query, want)
		}
	}
	if page, _ := d.read(http.StatusOK, "/search"); len(d.searched) > 1 || !strings.Contains(page, "<form") {
		t.Errorf("without words %v is searched for", d.searched)
	}
	d.found.Request = search.Request{Path: "/cities/_search", Body: []byte("{}")}
	if page, _ := d.read(http.StatusBadGateway, "/search?q=away"); !strings.Contains(page, "POST /cities/_search") {
		t.Error("the request is not shown when Elasticsearch does not answer it")
	}
}

// TestSearchesOfThePageAreBounded: those above the bound are turned away, and places are free
// again afterwards.
func TestSearchesOfThePageAreBounded(t *testing.T) {
	d := openStatusDesk(t)
	ctx, leave := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for range admin.MostSearches {
		waiting.Go(func() {
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/search?q=slow", nil)
			r.Host = strings.TrimPrefix(d.server.URL, "http://")
			d.server.Config.Handler.ServeHTTP(httptest.NewRecorder(), r)
		})
	}
	for range admin.MostSearches {
		<-d.slow
	}
	if page, _ := d.read(http.StatusServiceUnavailable, "/search?q=x"); !strings.Contains(page, "Try again in a moment") {
		t.Errorf("one search too many: %s", page)
	}
	leave()
	waiting.Wait()
	d.read(http.StatusOK, "/search?q=x")
}

// TestSearchPageIsLinked with the status page and the page of each document.
func TestSearchPageIsLinked(t *testing.T) {
	d := openStatusDesk(t)
	if page, _ := d.read(http.StatusOK, "/"); !strings.Contains(page, `href="/search"`) {
		t.Error("the status page has no link to the search page")
	}
	d.deliver("PUT", "/cities/a%26b", `{"title":"Sydney"}`)
	d.indexed = func(report.Change) admin.Indexed {
		return admin.Indexed{Fields: []admin.FieldSource{{Field: "title", Value: `"Sydney & more"`}}}
	}
	page, _ := d.read(http.StatusOK, "/document?kind=cities&id=a%26b")
	found := map[string]string{}
	elements(t, page, func(n *html.Node) {
		if n.Data == "input" {
			found[attribute(n, "name")] = attribute(n, "value")
		}
	})
	if found["explain"] != "cities/a&b" || found["q"] != "Sydney & more" {
		t.Errorf("the form of the document's page has %v", found)
	}
}
