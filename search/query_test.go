package search_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"riskdex/internal/testkit/require"
	"riskdex/mappings"
	"riskdex/report"
	"riskdex/search"
)

func TestParse(t *testing.T) {
	day := time.Date(2026, 7, 30, 0, 0, 0, 0, time.UTC)
	for query, want := range map[string]search.Query{
		"":               {},
		"q=&kind=&size=": {}, // as a form sends what was not filled in
		"q=+a++b+":       {Words: "a  b"},
		"kind=cities&kind=advisories&country=fr,be&threat=crime,unrest": {
			Kinds: []report.Kind{report.Cities, report.Advisories}, Countries: []string{"FR", "BE"}, Threats: []string{"crime", "unrest"},
		},
		"near=51.5,-0.12":                          {Near: &search.Near{Latitude: 51.5, Longitude: -0.12, Kilometres: 50}},
		"near=1,2&within_km=7.5&sort=nearest":      {Near: &search.Near{Latitude: 1, Longitude: 2, Kilometres: 7.5}, Sort: search.Nearest},
		"valid_on=2026-07-30&risk_at_least=3":      {RiskLevel: 3, Valid: &search.Period{Start: day, End: day.Add(24*time.Hour - time.Millisecond)}},
		"valid_on=2026-07-30T00:00:00Z&lang=fr-CA": {Language: "fr", Valid: &search.Period{Start: day, End: day}},
		"from=20&size=5&sort=risk":                 {From: 20, Size: 5, Sort: search.Risk},
	} {
		values, err := url.ParseQuery(query)
		require.NoError(t, err)
		if got, err := search.Parse(values); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", query, got, err, want)
		}
	}
	for query, want := range map[string]string{
		"kind=towns": "towns", "near=here": "51.5,-0.12", "within_km=5": "near: give", "near=1,1&within_km=-5": "above 0", "near=1,1&within_km=NaN": "above 0",
		"valid_on=tomorrow": "2026-07-30", "risk_at_least=high": "whole number", "size=-1": "whole number", "sort=best": "newest", "nearby=1,1": "nearby", "q=a&q=b": "2 times",
	} {
		values, err := url.ParseQuery(query)
		require.NoError(t, err)
		var mistake *search.Mistake
		if got, err := search.Parse(values); !errors.As(err, &mistake) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %s", query, got, err, want)
		}
	}
}

// TestBodiesOfSearchesInAnotherOrder: without words there is nothing to highlight or to correct, and the
// choices of facets are left out of their own counts alone.
func TestBodiesOfSearchesInAnotherOrder(t *testing.T) {
	set, err := mappings.Builtin()
	require.NoError(t, err)
	body := func(q search.Query) (members map[string]any) {
		t.Helper()
		text, err := set.Body(q)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &members))
		return members
	}
	all := body(search.Query{Countries: []string{"FR"}})
	if text := fmt.Sprint(all["query"]); !strings.Contains(text, "filter:[map[terms:map[country:[FR]]]]") || !strings.Contains(text, "field:published_at") || all["highlight"] != nil || all["suggest"] != nil {
		t.Errorf("without words: %v", all)
	}
	if query := fmt.Sprint(body(search.Query{Near: &search.Near{Latitude: 1, Longitude: 1, Kilometres: 1}})["query"]); !strings.Contains(query, "scale:1km") {
		t.Errorf("without words, near a point: %s", query)
	}
	some := body(search.Query{Words: "x", Kinds: []report.Kind{report.Cities}, Countries: []string{"FR"}, Facets: true, Fields: []string{"title"}})
	facets := some["aggs"].(map[string]any)
	for field, want := range map[string]string{"kind": "[map[terms:map[country:[FR]]]]", "country": "[map[terms:map[kind:[cities]]]]", "threats": "[map[terms:map[country:[FR]]] map[terms:map[kind:[cities]]]]"} {
		if got := fmt.Sprint(facets[field].(map[string]any)["filter"]); got != "map[bool:map[filter:"+want+"]]" {
			t.Errorf("%s is counted among %s", field, got)
		}
	}
	if fmt.Sprint(some["post_filter"]) != fmt.Sprint(facets["threats"].(map[string]any)["filter"]) || fmt.Sprint(some["_source"]) != "[title]" || some["highlight"] == nil {
		t.Errorf("with choices: %v", some)
	}
	for _, q := range []search.Query{{Complete: true}, {Words: " \t", Sort: search.Relevance}} {
		if _, err := set.Body(q); !errors.Is(err, search.ErrNoWords) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

func TestMatchedNames(t *testing.T) {
	mumbai := search.Hit{Fields: search.Fields{Title: "Mumbai", Code: "BOM", Names: []string{"City of Dreams"}, NamesKnown: "Bombay Bom_Bahia Мумбаи"}}
	for typed, want := range map[string]string{
		"mum": "", "mumbai": "", "floods in mumbai": "", "bomb": "Bombay", "floods in bombay": "Bombay", "BOM": "BOM", "bom ba": "Bom Bahia", "мумб": "Мумбаи",
		"city of": "City of Dreams", "floods": "", "": "",
	} {
		if got := mumbai.Matched(typed); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
	guide := search.Hit{Fields: search.Fields{Title: "Buenos Aires – City Safety Guide", NamesKnown: "Buenos_Aires Santa_María_del_Buen_Ayre"}}
	for typed, want := range map[string]string{"sa": "Santa María del Buen Ayre", "safety": "", "tango buenos aires": ""} {
		if got := guide.Matched(typed); got != want {
			t.Errorf("%q of a title with more than a name: %q, want %q", typed, got, want)
		}
	}
}

// TestCompletionsBegin: what begins as typed goes before what has a word that does, and that before what is
// similar; three letters are too few for either.
func TestCompletionsBegin(t *testing.T) {
	set, err := mappings.Builtin()
	require.NoError(t, err)
	const hits = `{"hits":{"hits":[{"_source":{"title":"London – City Safety Guide","code":"LON","names_known":"Londres","airports":["LHR"]}},
		{"_source":{"title":"East London"}},{"_source":{"title":"Georgia’s long winter"}}]}}`
	for typed, want := range map[string]int{"l": 1, "lon": 1, "lh": 1, "londr": 1, "lond": 2, "saf": 0, "safe": 3, "lodn": 3} {
		found, err := set.Ask(search.Query{Words: typed, Complete: true}, func([]byte) (search.Result, error) { return search.ReadResult([]byte(hits)) })
		if len(found.Hits) != want || err != nil {
			t.Errorf("%q completes to %d, %v, want %d", typed, len(found.Hits), err, want)
		}
	}
}

// TestExcerptsRead: a snippet is a sentence and neither the title again nor a label, or else the summary
// begins to be told.
func TestExcerptsRead(t *testing.T) {
	for _, c := range []struct{ summary, text, want string }{
		{"", "<em>Naples</em> under the volcano\n\nLava flows &amp; <em>ash</em> falls there.", "Lava flows &amp; <em>ash</em> falls there."},
		{"Two <thirds>.\n\nMore.", "<em>Naples</em> under the volcano", "Two &lt;thirds&gt;."},
		{"Lava flows.", "<em>Italy</em>", "Lava flows."},
		{"", "<em>Italy</em>", "<em>Italy</em>"},
		{"Lava flows.", "24&#x2F;08&#x2F;2026 - 13:16 at noon", "Lava flows."},
		{"x", "<em>火山</em>灰正在落到城市。", "<em>火山</em>灰正在落到城市。"},
		{"", "", ""},
	} {
		hit := search.Hit{Fields: search.Fields{Title: "Naples under the volcano", Summary: c.summary}}
		hit.Highlights = map[string][]string{"text": {c.text}}
		if got := append(hit.Excerpts(""), "")[0]; got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.summary, c.text, got, c.want)
		}
	}
}

func TestExcerptsAreInTheLanguageThatIsAskedFor(t *testing.T) {
	hit := search.Hit{Highlights: map[string][]string{"text": {"<em>x</em>"}, "text_in.fr": {"<em>fr</em>"}, "text_in.de": {"<em>de</em>"}, "title": {"title"}}}
	if got := hit.Excerpts("de"); len(got) != 1 || got[0] != "<em>de</em>" {
		t.Errorf("excerpts in German: %q", got)
	}
	labelled := search.Hit{Highlights: map[string][]string{"text": {"São <em>Paulo</em>\n\nModerate\n\nReport on <em>Paulo</em> &amp; its\nport."}}}
	if got := labelled.Excerpts(""); got[0] != "São <em>Paulo</em> … Report on <em>Paulo</em> &amp; its\nport." {
		t.Errorf("a label beside a match: %q", got)
	}
	if got := hit.Excerpts(""); len(got) != 1 || got[0] == "<em>x</em>" {
		t.Errorf("excerpts: %q", got)
	}
}

// TestDidYouMeanIsTried: other words are proposed for those that are not understood, if they find what the
// typed ones do not.
func TestDidYouMeanIsTried(t *testing.T) {
	set, err := mappings.Builtin()
	require.NoError(t, err)
	const weak, well = `{"hits":{"hits":[{"matched_queries":["new"]}]}}`, `{"hits":{"hits":[{"matched_queries":["phrase"]}]}}`
	for _, c := range []struct{ words, other, tried, want string }{
		{"museem", "museum", well, "museum"},
		{"museem", "museum", weak, ""},
		{"oslo museem", "museum", well, "oslo museum"},
		{"brugge", "bridge", well, ""},  // a place
		{"thieves", "themes", well, ""}, // a threat
		{"beer", "been", well, ""},      // as many words are alike
	} {
		sent := 0
		found, err := set.Ask(search.Query{Words: c.words}, func([]byte) (search.Result, error) {
			if sent++; sent > 1 {
				return search.ReadResult([]byte(c.tried))
			}
			var words []string
			for word := range strings.FieldsSeq(c.words) {
				options := ""
				if word[:2] == c.other[:2] {
					options = `{"text":"` + c.other + `"}`
				}
				words = append(words, `{"text":"`+word+`","options":[`+options+`]}`)
			}
			return search.ReadResult([]byte(`{"hits":{"hits":[]},"suggest":{"did_you_mean":[` + strings.Join(words, ",") + `]}}`))
		})
		if found.DidYouMean != c.want || err != nil {
			t.Errorf("%s, %s: proposes %q, %v, want %q", c.words, c.other, found.DidYouMean, err, c.want)
		}
	}
}

// TestNamesAreSentForWhatTheyTell: a clause has a name where that tells whether the words were found as they
// were typed, or where a score is explained.
func TestNamesAreSentForWhatTheyTell(t *testing.T) {
	set, err := mappings.Builtin()
	require.NoError(t, err)
	q := search.Query{Words: "museem"}
	named, err := set.Body(q)
	require.NoError(t, err)
	_, err = set.Ask(q, func(sent []byte) (search.Result, error) {
		for name, wanted := range map[string]bool{"phrase": true, "words, in any field": true, "misspelt words": false, "new": false} {
			member := []byte(`"_name":"` + name + `"`)
			if !bytes.Contains(named, member) || bytes.Contains(sent, member) != wanted {
				t.Errorf("%s: named is %t, want %t", name, !wanted, wanted)
			}
		}
		return search.Result{}, nil
	})
	require.NoError(t, err)
}

// TestHighlightsKnowOtherNames: what a report calls a place is marked where another name was typed.
func TestHighlightsKnowOtherNames(t *testing.T) {
	set, err := mappings.Builtin()
	require.NoError(t, err)
	for words, want := range map[string]bool{"londres metro": true, "lodnon": true, "london": false} {
		body, err := set.SearchBody(words, search.Query{})
		require.NoError(t, err)
		var made struct {
			Highlight struct {
				Query any `json:"highlight_query"`
			} `json:"highlight"`
		}
		require.NoError(t, json.Unmarshal(body, &made))
		if got := strings.Contains(fmt.Sprint(made.Highlight.Query), "query:London type:phrase"); got != want {
			t.Errorf("%s marks %v", words, made.Highlight.Query)
		}
	}
}
