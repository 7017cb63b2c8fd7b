package admin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"riskdex/admin"
	"riskdex/internal/testkit/require"
	"riskdex/report"
	"riskdex/search"
)

// Texts of a hostile sender, which try to close the element that they are in and to begin a
// script.
const (
	hostile   = `"'></bdi></td><script>document.documentElement.dataset.owned=1</script><img src=x onerror="document.documentElement.dataset.owned=2">{{.Token}}` + "\u202e`javascript:1"
	hostileID = "a\r\nb\x00\t\\\"'><script>document.documentElement.dataset.owned=3</script>\u202e/ü"
)

// openHostileDesk has hostile text in everything that the page shows.
func openHostileDesk(t *testing.T) *statusDesk {
	t.Helper()
	d := openStatusDesk(t)
	for _, kind := range report.Kinds() {
		d.deliver("PUT", "/"+string(kind)+"/"+url.PathEscape(hostileID), `{"t":"poison"}`)
		claimed, err := d.journal.Claim(t.Context(), kind, 10, 1<<20)
		require.NoError(t, err)
		require.NoError(t, d.journal.Settle(t.Context(), []report.Settlement{{
			Key: claimed[0].Key, Version: claimed[0].Version, Outcome: report.Dead, ErrorType: hostile, Reason: "reason " + hostile,
		}}))
	}
	_, err := d.journal.Append(t.Context(), report.Delivery{Refusals: []report.Refusal{{
		At: d.now, Kind: report.Cities, Method: hostile, Path: "/" + hostile, ID: hostileID, Reason: hostile, Detail: "detail " + hostile, Body: []byte(hostile),
	}}})
	require.NoError(t, err)
	d.last.Note(report.Answered{At: d.now, Kind: report.Cities, Method: "<script>", Status: 400, Reason: hostile})
	d.last.Note(report.Answered{At: d.now, Kind: report.Cities, Method: "POST", Status: 202, Accepted: 1200, Refused: 1})
	d.waiting = []report.Waiting{{Kind: report.Cities, Index: hostile, Paused: true, Reason: hostile, ErrorType: hostile, Detail: hostile, Since: d.now}}
	d.rebuilt = []report.Rebuild{
		{Kind: report.Cities, Phase: "failed", Reason: hostile, NewIndex: hostile, StartedAt: d.now},
		{Kind: report.Advisories, Phase: "filling", Active: true, Total: 1000, Remaining: 400, SecondsLeft: 80, StartedAt: d.now},
	}
	d.cannot = fmt.Errorf("cannot: %s", hostile)
	d.fields = fieldsOf(165, 165, 12)
	d.found = search.Result{
		Total: 1, DidYouMean: "likelier " + hostile, Request: search.Request{Path: "/cities" + hostile, Body: []byte(`{"query": ` + strconv.Quote(hostile) + `}`)},
		Facets: map[string][]search.Count{"country": {{Value: "value " + hostile, Documents: 2}}, hostile: {{Value: hostile}}},
		Hits: []search.Hit{{
			ID: hostileID, Highlights: map[string][]string{"summary": {"not escaped " + hostile + " <em>match " + hostile + "</em> after", "&lt;script&gt; of several words, left <em>open"}},
			Fields: search.Fields{Kind: report.Cities, Title: "title " + hostile, Code: hostile, Countries: []string{hostile}, RiskLevel: 3, Threats: []string{hostile}},
		}},
	}
	d.score = search.Score{Found: true, Total: 2, Raw: []byte(`{"description": ` + strconv.Quote(hostile) + `}`), Reasons: []search.Reason{{
		Clause: "says " + hostile, Score: 2, Terms: []search.Term{{Fields: []string{"field " + hostile}, Words: []string{"words " + hostile}, Score: 2}},
	}}}
	return d
}

// elements calls see with every element of a page.
func elements(t *testing.T, page string, see func(*html.Node)) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	require.NoError(t, err)
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			see(n)
		}
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// TestRunbookIsThere checks that the runbook has a section for every trouble, and how its
// Markdown is rendered.
func TestRunbookIsThere(t *testing.T) {
	d := openStatusDesk(t)
	page, _ := d.read(http.StatusOK, "/runbook")
	ids := map[string]bool{}
	elements(t, page, func(n *html.Node) { ids[attribute(n, "id")] = true })
	elements(t, page, func(n *html.Node) {
		if section, ok := strings.CutPrefix(attribute(n, "href"), "#"); ok && !ids[section] {
			t.Errorf("a link leads to #%s, which is not there", section)
		}
	})
	for _, c := range admin.Causes() {
		if !ids[strings.ToLower(c.Alert)] {
			t.Errorf("%s has no section %s", c.Name, c.Alert)
		}
	}
	for _, form := range []string{"<td><code>not_accepting</code></td>", "<strong>Means:</strong>", "<pre tabindex=\"0\">inhibit_rules:\n", `<a href="#when-an-alert-fires">what to do when an alert fires</a>`, `<li><a href="#when-an-alert-fires">When an alert fires</a></li>`, `<td><a href="#riskdexdown">RiskdexDown</a></td><td>critical</td>`} {
		if !strings.Contains(page, form) {
			t.Errorf("the runbook lacks %s", form)
		}
	}
	if strings.Contains(page, "](") || strings.Contains(page, "**") || strings.Contains(page, "```") {
		t.Error("some Markdown of the runbook is not rendered")
	}
}

// TestStatusTellsWhatElasticsearchIsNotUpFor: nothing has got through to an index yet.
func TestStatusTellsWhatElasticsearchIsNotUpFor(t *testing.T) {
	for want, st := range map[string]admin.Status{
		"away":                             {Waiting: []report.Waiting{{Index: "cities"}}},
		"up":                               {ElasticsearchUp: true, Waiting: []report.Waiting{{Index: "cities", Paused: true}}},
		"up, but not yet for cities":       {ElasticsearchUp: true, Waiting: []report.Waiting{{Index: "cities"}, {Index: "advisories", Paused: true}}},
		"up, but not yet for a and 1 more": {ElasticsearchUp: true, Waiting: []report.Waiting{{Index: "a"}, {Index: "b"}}},
	} {
		if got := st.Elasticsearch(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestPageOffersNoRetryOfWhatIsDamaged: the journal would leave it out.
func TestPageOffersNoRetryOfWhatIsDamaged(t *testing.T) {
	d := openStatusDesk(t)
	d.deliver("PUT", "/cities/1", `{"t":1}`)
	claimed, err := d.journal.Claim(t.Context(), report.Cities, 10, 1<<20)
	require.NoError(t, err)
	require.NoError(t, d.journal.Settle(t.Context(), []report.Settlement{{
		Key: claimed[0].Key, Version: claimed[0].Version, Outcome: report.Dead, ErrorType: report.ErrorTypeDamaged, Reason: "its checksum is wrong",
	}}))
	if page, _ := d.read(http.StatusOK, "/"); strings.Contains(page, "/dead/retry") || !strings.Contains(page, "ask the publisher to deliver it again") || !strings.Contains(page, "/dead/drop") {
		t.Error("the page offers to retry a damaged record, or does not say what to do")
	}
}

// TestForeignTextNeverBecomesHTML parses the pages as a browser would.
func TestForeignTextNeverBecomesHTML(t *testing.T) {
	d := openHostileDesk(t)
	typed := strings.ReplaceAll(hostile, "\u202e", "") // the page repeats the words of a search unchanged
	search := "/search?q=" + url.QueryEscape(typed)
	for path, shows := range map[string][]string{
		"/":    {"reason &#34;&#39;&gt;", "detail &#34;", "cannot: ", `a\u{d}\u{a}b\u{0}\u{9}\\`, `\u{202e}`},
		search: {"title &#34;", "not escaped", "<mark>match", "<mark>open", "&lt;script&gt;", "likelier &#34;", "value &#34;", "POST /cities&#34;"},
		search + "&explain=" + url.QueryEscape("cities/"+hostileID):        {"says &#34;", "field &#34;", "words &#34;", "&#34;description&#34;"},
		search + "&explain=cities/other&country=" + url.QueryEscape(typed): {"Why cities"},
		"/?done=" + url.QueryEscape(hostile):                               nil,
	} {
		page, header := d.read(http.StatusOK, path)
		scripts := 0
		elements(t, page, func(n *html.Node) {
			switch n.Data {
			case "script":
				scripts++
				if attribute(n, "src") != "/page.js" || n.FirstChild != nil {
					t.Errorf("%s has a script %v", path, n.Attr)
				}
			case "img", "iframe", "object", "style", "base":
				t.Errorf("%s has an element %s", path, n.Data)
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || strings.Contains(a.Val, "javascript:") && a.Key != "value" || a.Key == "style" {
					t.Errorf("%s has an attribute %s=%q", path, a.Key, a.Val)
				}
			}
		})
		if scripts > 1 || strings.ContainsAny(page, "\u202e\x00") {
			t.Errorf("%s has %d scripts, or a control character", path, scripts)
		}
		for _, text := range shows {
			if !strings.Contains(page, text) {
				t.Errorf("%s: no %q", path, text)
			}
		}
		policy := header.Get("Content-Security-Policy")
		for _, rule := range []string{"default-src 'none';", "script-src 'self';", "frame-ancestors 'none';", "form-action 'self';", "base-uri 'none'"} {
			if !strings.Contains(policy, rule) {
				t.Errorf("%s: the policy %q lacks %q", path, policy, rule)
			}
		}
		if strings.Contains(policy, "unsafe") || header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers %v", path, header)
		}
	}
	// What failed is shown too.
	page, _ := d.read(http.StatusBadGateway, "/search?q=away")
	if !strings.Contains(page, "nobody &lt;b&gt;answers") {
		t.Errorf("the page does not show that the search failed: %s", page)
	}
	d.read(http.StatusBadRequest, "/search?q="+strings.Repeat("x", 501))
}

// TestPageSaysWhichFieldsDocumentsHave, and what few have although more should.
func TestPageSaysWhichFieldsDocumentsHave(t *testing.T) {
	d := openStatusDesk(t)
	d.set(func() { d.fields = fieldsOf(165, 164, 1) })
	page, _ := d.read(http.StatusOK, "/")
	for _, says := range []string{
		`<dt>with risk level</dt><dd class="bad-text">under 1 %</dd>`, `<dt>title</dt><dd>over 99 %</dd>`, `<dt>location</dt><dd>0 %</dd>`, `<code>riskdex mappings show cities</code>`,
	} {
		if !strings.Contains(page, says) {
			t.Errorf("the page lacks %s", says)
		}
	}
	if strings.Contains(page, "with title") || strings.Contains(page, "mappings show advisories</code>") {
		t.Error("the page says too much")
	}
}
