package admin_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestPageInABrowser opens the page with hostile content in a real browser, light and dark,
// on a desktop and on a phone, and presses its buttons.
func TestPageInABrowser(t *testing.T) {
	d := openHostileDesk(t)
	d.lagged(40)
	c := openChromium(t)
	search := d.server.URL + "/search?q=" + url.QueryEscape("title")
	hostile, err := d.journal.DeadLetters(t.Context(), report.Cities, "", 1)
	require.NoError(t, err)
	document := d.server.URL + "/document?kind=cities&id=" + url.QueryEscape(string(hostile[0].ID))
	for _, look := range []struct {
		name    string
		width   int
		phone   bool
		colours string
	}{
		{"light", 1200, false, "light"}, {"dark", 1200, false, "dark"},
		{"phone-light", 390, true, "light"}, {"phone-dark", 390, true, "dark"}, {"narrow", 320, true, "light"},
	} {
		c.look(look.width, 800, look.phone, look.colours)
		for name, page := range map[string]string{"hostile-status": d.server.URL + "/", "hostile-search": search, "hostile-document": document} {
			c.open(page)
			if got := c.eval("document.documentElement.dataset.owned"); got != "undefined" {
				t.Errorf("%s %s: a script from outside has run: %s", name, look.name, got)
			}
			if got := c.eval("document.documentElement.scrollWidth"); got != fmt.Sprint(look.width) {
				t.Errorf("%s %s: the page is %s wide, and the window %d", name, look.name, got, look.width)
			}
			picture, err := png.Decode(bytes.NewReader(c.picture(name + "-" + look.name)))
			require.NoError(t, err)
			if dark := isDark(picture); dark != (look.colours == "dark") {
				t.Errorf("%s %s: dark is %v", name, look.name, dark)
			}
		}
	}
	c.open(d.server.URL + "/")
	if got := c.eval(`getComputedStyle(document.querySelector(".cards")).display`); got != "grid" {
		t.Errorf("the style sheet is not used: %s", got)
	}
	c.eval(`document.querySelector('form[action="/dead/retry"] button').click()`)
	c.until(`document.readyState == "complete" && location.search`, "?done=dead-retry")
	c.eval(`document.querySelector('details summary').click()`)
	c.eval(`document.querySelector('form[action="/dead/drop"] button').click()`)
	c.until(`document.readyState == "complete" && location.search`, "?done=dead-drop")
	c.eval(`document.querySelector('form[action="/refused/drop"] button').click()`)
	c.until(`document.readyState == "complete" && location.search`, "?done=refused-drop")
	if st := d.status(); st.DeadTotal != 1 || st.RefusedTotal != 0 || st.Kinds[0].Pending != 1 {
		t.Errorf("after the buttons: %d dead, %d refused, %d pending", st.DeadTotal, st.RefusedTotal, st.Kinds[0].Pending)
	}
	c.eval(`(document.querySelector('.search input').value = 'typed', document.querySelector('.search button').click())`)
	c.until(`document.readyState == "complete" && location.href`, d.server.URL+"/search?q=typed")
}

// TestPageLoadsItselfAgain fires the timer of its script.
func TestPageLoadsItselfAgain(t *testing.T) {
	d := openStatusDesk(t)
	c := openChromium(t)
	c.open(d.server.URL + "/?done=dead-drop")
	c.eval("tick()")
	c.until(`document.readyState == "complete" && location.href`, d.server.URL+"/")
	// It does not reload while somebody uses it.
	c.eval("window.fetch = function () { window.fetched = true; return Promise.reject() }")
	for _, used := range []string{`document.querySelector("input").focus()`, `document.body.appendChild(document.createElement("details")).open = true`} {
		if got := c.eval("(" + used + ", tick(), window.fetched)"); got != "undefined" {
			t.Errorf("it loads itself again after %s", used)
		}
		c.eval(`(document.activeElement.blur(), 0)`)
	}
	// If riskdex does not answer, it says that it is out of date.
	c.until(`getComputedStyle(document.querySelector(".aged")).display`, "none")
	c.eval(`(document.querySelector("details").remove(), tick())`)
	c.until(`getComputedStyle(document.querySelector(".aged")).display`, "block")
}

// TestReboundNameInABrowser lets a page under a name that was rebound to this machine try
// to read what is kept. Over plain HTTP, a real browser sends far fewer headers about a
// request than over TLS.
func TestReboundNameInABrowser(t *testing.T) {
	d := openStatusDesk(t)
	d.deliver("POST", "/cities", `[{"title":"no id"}]`)
	c := openChromium(t, "--host-resolver-rules=MAP rebound.example 127.0.0.1")
	read := func(path, more string) string {
		return c.eval(`(x => (x.open("GET", "` + path + `", false), ` + more + ` x.send(), x.status + " " + x.responseText))(new XMLHttpRequest())`)
	}
	rebound := strings.Replace(d.server.URL, "127.0.0.1", "rebound.example", 1)
	c.open(rebound + "/livez") // the test's scripts are those of the page's owner
	for _, path := range []string{"/", "/api/refused", "/metrics"} {
		for _, more := range []string{``, `x.setRequestHeader("Accept-Language", ""), x.setRequestHeader("Accept", "*/*"), x.setRequestHeader("User-Agent", "curl/8"),`} {
			if got := read(path, more); !strings.HasPrefix(got, "403 ") {
				t.Errorf("a page reads %s: %.100s", path, got)
			}
		}
	}
	c.open(rebound + "/api/refused") // as a page can in a window that it has opened
	if got := c.eval("document.body.innerText"); !strings.Contains(got, `"status":403`) {
		t.Errorf("in a window: %s", got)
	}
	c.open(d.server.URL + "/livez")
	if got := read("/api/refused", ``); !strings.HasPrefix(got, `200 {"items":[{`) {
		t.Errorf("a page of riskdex's own reads %s", got)
	}
}

// TestPagesDeliverNothingInABrowser lets pages of others try to deliver to a receiver
// without authentication: with forms and scripts of another site, and with a page under a
// name that was rebound to this machine.
func TestPagesDeliverNothingInABrowser(t *testing.T) {
	d := openStatusDesk(t)
	if status := d.deliver("PUT", "/cities/1", `{"t":"ours"}`); status != http.StatusAccepted {
		t.Fatal(status)
	}
	receiver := httptest.NewServer(d.receiver)
	t.Cleanup(receiver.Close)
	c := openChromium(t, "--host-resolver-rules=MAP rebound.example 127.0.0.1")
	c.open(d.server.URL + "/livez") // another port is another site; the test's scripts are those of the page's owner
	for _, mode := range []string{"no-cors", "cors"} {
		c.do("Runtime.evaluate", map[string]any{"awaitPromise": true, "expression": `fetch("` + receiver.URL + `/cities", {method: "POST", mode: "` + mode +
			`", headers: {"Content-Type": "text/plain"}, body: '{"id":2}'}).catch(String)`}, nil)
	}
	c.do("Runtime.evaluate", map[string]any{"awaitPromise": true, "expression": `fetch("` + receiver.URL + `/cities/1", {method: "DELETE"}).catch(String)`}, nil)
	c.eval(`(document.body.innerHTML = '<form method=post enctype=text/plain action="` + receiver.URL + `/cities"><input name=&quot; value=x></form>', document.forms[0].submit())`)
	c.until("location.href", receiver.URL+"/cities")
	c.until(`document.body.innerText.includes("web_page")`, "true")

	rebound := strings.Replace(receiver.URL, "127.0.0.1", "rebound.example", 1)
	c.open(rebound + "/livez")
	for _, call := range []string{`"POST", "/cities"`, `"PUT", "/cities/1"`, `"DELETE", "/cities/1"`} {
		if got := c.eval(`(x => (x.open(` + call + `, false), x.send('{"id":2}'), x.status + " " + x.responseText))(new XMLHttpRequest())`); !strings.HasPrefix(got, "403 ") {
			t.Errorf("the call %s by a page is answered %s, want 403", call, got)
		}
	}
	if taken := d.index(); len(taken) != 1 || taken["1"] != `{"t":"ours"}` {
		t.Errorf("the index would have %v", taken)
	}
}

// TestUsualPageInABrowser takes pictures of an ordinary day, for people to look at.
func TestUsualPageInABrowser(t *testing.T) {
	d := openStatusDesk(t)
	d.lagged(60)
	c := openChromium(t)
	c.look(1200, 800, false, "light")
	c.open(d.server.URL + "/")
	if got := c.eval("document.title"); got != "riskdex: all well" {
		t.Errorf("the title is %q", got)
	}
	c.picture("well-light")
	d.deliver("PUT", "/advisories/FR-2026-14", `{"t":"poison"}`)
	d.deliver("POST", "/cities", `[{"title":"no id"}]`)
	d.index()
	for i, status := range []int{http.StatusAccepted, http.StatusUnprocessableEntity, http.StatusServiceUnavailable} {
		d.last.Note(report.Answered{At: d.now.Add(time.Duration(i) * time.Second), Kind: report.Cities, Method: "POST", Status: status, Accepted: (2 - i) / 2, Refused: i % 2})
	}
	for _, colours := range []string{"light", "dark"} {
		c.look(1200, 800, false, colours)
		c.open(d.server.URL + "/")
		c.picture("usual-" + colours)
	}
	c.look(390, 800, true, "light")
	c.picture("usual-phone")
	if !strings.Contains(c.eval("document.body.innerText"), "FR-2026-14") {
		t.Error("the dead letter is not shown")
	}
}

// TestBadDayInABrowser shows the page with many troubles at three widths: nothing
// overflows, no word is broken, and every trouble has its section in the runbook.
func TestBadDayInABrowser(t *testing.T) {
	d := openStatusDesk(t)
	d.lagged(20)
	d.deliver("PUT", "/advisories/FR-2026-14", `{"t":"poison"}`)
	d.deliver("POST", "/cities", `[{"title":"no id"}]`)
	d.deliver("POST", "/countries", `{"id":1}`)
	d.deliver("PUT", "/cities/7", `{`)
	d.index()
	for _, one := range []report.Answered{
		{Kind: report.Cities, ID: "130", Method: "PUT", Status: http.StatusAccepted, Accepted: 1},
		{Kind: report.Advisories, ID: "FR-2026-14", Method: "POST", Status: http.StatusAccepted, Accepted: 1200, Refused: 1},
		{Path: "/countries", Method: "POST", Status: http.StatusNotFound, Reason: "unknown_path"},
		{Kind: report.Cities, ID: "7", Method: "PUT", Status: http.StatusBadRequest, Reason: "invalid_json"},
	} {
		one.At = d.clock()
		d.last.Note(one)
	}
	d.set(func() {
		d.cannot = errors.New("no room: /var/lib/riskdex/riskdex.db uses 10 MiB, and --journal-max-bytes allows it 10 MiB; raise that, or delete documents until it uses less than 9.8 MiB")
		d.sizes = &report.Stats{Bytes: 14_680_064, WAL: 4_194_304, Used: 10_485_760, Limit: 10_485_760, Free: 1 << 36}
		d.waiting = []report.Waiting{
			{Kind: report.Cities, Index: "cities", Reason: "unreachable", ErrorType: "", Detail: "dial tcp 192.0.2.10:9200: connect: connection refused", Since: d.now},
			{Kind: report.Advisories, Index: "advisories", Paused: true, Reason: "pipeline_missing", ErrorType: "illegal_argument_exception", Detail: "pipeline with id [enrichment] does not exist", Since: d.now},
		}
		d.rebuilt = []report.Rebuild{
			{Kind: report.SpecialReports, Phase: "filling", Active: true, Total: 1000, Remaining: 400, SecondsLeft: 80, StartedAt: d.now},
			{Kind: report.Cities, Phase: "failed", Reason: "mapper_parsing_exception: failed to parse field [risk_label] of type [integer]", NewIndex: "cities-v2", StartedAt: d.now},
		}
	})
	c := openChromium(t)
	for _, width := range []int{320, 800, 1400} {
		for _, colours := range []string{"light", "dark"} {
			c.look(width, 900, width < 500, colours)
			c.open(d.server.URL + "/")
			c.picture(fmt.Sprintf("bad-%d-%s", width, colours))
			if got := c.eval("document.documentElement.scrollWidth"); got != fmt.Sprint(width) {
				t.Errorf("the page is %s wide, and the window %d", got, width)
			}
			if got := c.eval(`[...document.querySelectorAll(".card, td, .state")].filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText)`); got != "" {
				t.Errorf("at %d, what is in these does not fit: %s", width, got)
			}
			if got := c.eval(brokenWords); got != "" {
				t.Errorf("at %d, these words are broken: %s", width, got)
			}
		}
	}
	text := c.eval("document.body.innerText")
	for _, want := range []string{
		"up, but not yet for cities", "lag since ", "at most 2 s", "of that, write-ahead log", "4.0 MiB", "10 MiB of 10 MiB",
		"cities / 130", "advisories / FR-2026-14 and 1,200 more", "/countries", "It cannot be retried.", "riskdex refused retry 3 --body FILE",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q: %s", want, text)
		}
	}
	if got := c.eval(`document.querySelectorAll('form[action="/refused/retry"]').length`); got != "1" {
		t.Errorf("there are %s buttons to retry what was refused: missing_id alone may be accepted as it is", got)
	}
	links := c.eval(`[...document.querySelectorAll(".state a")].map(a => a.href)`)
	for link := range strings.SplitSeq(links, ",") {
		c.open(link)
		if got := c.eval(`document.querySelector(":target").tagName`); got != "H3" {
			t.Errorf("%s leads to %s", link, got)
		}
	}
	if n := strings.Count(links, "/runbook#"); n != len(d.status().Troubles) {
		t.Errorf("%d troubles, and %d links: %s", len(d.status().Troubles), n, links)
	}
	for _, width := range []int{320, 1400} {
		c.look(width, 900, width < 500, "light")
		c.open(d.server.URL + "/runbook")
		c.picture(fmt.Sprintf("runbook-%d", width))
		if got := c.eval("document.documentElement.scrollWidth"); got != fmt.Sprint(width) {
			t.Errorf("the runbook is %s wide, and the window %d", got, width)
		}
	}
}

// brokenWords is a script that returns the words of a page that are broken across lines,
// except ids and paths, which may be longer than a line.
const brokenWords = `(() => {
	const broken = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
	for (let n; n = walker.nextNode();) {
		for (const word of n.data.matchAll(/(?:--)?[\p{L}\d_,.]{2,}/gu)) {
			const range = document.createRange()
			range.setStart(n, word.index)
			range.setEnd(n, word.index + word[0].length)
			if (new Set([...range.getClientRects()].map(r => r.top)).size > 1 && !n.parentElement.closest(".id")) broken.push(word[0])
		}
	}
	return broken
})()`

// lagged fills the history with that many minutes up to now, with a lag now and then.
func (d *statusDesk) lagged(minutes int) {
	d.t.Helper()
	end := d.clock()
	for i := minutes; i >= 0; i-- {
		d.set(func() {
			d.now = end.Add(-time.Duration(i) * time.Minute)
			d.ripple = time.Duration(max(0, 25-(i-30)*(i-30))+i%3) * time.Second
		})
		d.history.Sample(d.t.Context())
	}
}

// isDark reports whether the corner of a picture is dark.
func isDark(picture image.Image) bool {
	return color.GrayModel.Convert(picture.At(1, 1)).(color.Gray).Y < 128
}
