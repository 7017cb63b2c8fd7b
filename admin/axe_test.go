package admin_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/require"
	"riskdex/report"
	"riskdex/search"
)

// axe returns the source of axe-core, which finds what keeps people from using a page.
func axe(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(needs.NodeModules(t, filepath.Join("testdata", "axe")), "axe-core", "axe.min.js"))
	require.NoError(t, err)
	return string(source)
}

// barriers returns the serious and critical findings of axe, which the page that is open has
// loaded.
func (c *chromium) barriers() []string {
	c.t.Helper()
	var out struct {
		Result           struct{ Value string }
		ExceptionDetails json.RawMessage
	}
	c.do("Runtime.evaluate", map[string]any{"expression": `axe.run({resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations))`, "awaitPromise": true, "returnByValue": true}, &out)
	if out.Result.Value == "" {
		c.t.Fatalf("axe did not run: %s", out.ExceptionDetails)
	}
	var violations []struct {
		ID, Impact, Help string
		Nodes            []struct {
			HTML           string
			FailureSummary string
		}
	}
	require.NoError(c.t, json.Unmarshal([]byte(out.Result.Value), &violations))
	var found []string
	for _, v := range violations {
		if v.Impact == "serious" || v.Impact == "critical" {
			found = append(found, fmt.Sprintf("%s %s (%s), %d times: %.300s: %s", v.Impact, v.ID, v.Help, len(v.Nodes), v.Nodes[0].HTML, v.Nodes[0].FailureSummary))
		} else {
			c.t.Logf("%s %s (%s): %.200s", v.Impact, v.ID, v.Help, v.Nodes[0].HTML)
		}
	}
	return found
}

// fullPages returns the pages with as much on them as there can be.
func (d *statusDesk) fullPages() map[string]string {
	d.t.Helper()
	sydney := &search.Point{Latitude: -33.87, Longitude: 151.21}
	d.lagged(40)
	d.set(func() {
		d.sizes = &report.Stats{Bytes: 14_680_064, WAL: 4_194_304, Used: 10_485_760, Limit: 10_485_760, Free: 1 << 36}
	})
	d.indexed = func(c report.Change) admin.Indexed {
		return admin.Indexed{Index: "cities", Version: c.Version, Differ: []string{"title"}, Fields: []admin.FieldSource{
			{Field: "title", Value: `"Sydney"`, Pointer: "/title"}, {Field: "risk_level", Value: `"many"`, Pointer: "/risk", Reason: "it is not a level"},
		}, About: admin.About{RiskLevel: 4, RiskLabel: "High " + hostile, Location: sydney, Places: []search.Place{{Name: "Main Station", Location: &search.Point{Latitude: -33.883, Longitude: 151.206}}, {Name: "Hospital " + hostile, Location: sydney}, {Name: "Nowhere"}}}}
	}
	d.found.Total = 2
	d.found.Hits[0].Location = sydney
	d.found.Hits = append(d.found.Hits, search.Hit{ID: "2", Fields: search.Fields{
		Kind: report.Cities, Title: "Paris", RiskLevel: 5, RiskLabel: "Extreme", Location: &search.Point{Latitude: 48.85, Longitude: 2.35},
	}})
	d.arrived(report.ArrivalsNote(report.Cities), 3*time.Hour, 20*24*time.Hour)
	hostile, err := d.journal.DeadLetters(d.t.Context(), report.Cities, "", 1)
	require.NoError(d.t, err)
	id := url.QueryEscape(string(hostile[0].ID))
	return map[string]string{
		"status": "/?done=dead-retry", "runbook": "/runbook", "document": "/document?kind=cities&id=" + id,
		"search": "/search?q=title&kind=cities&risk_at_least=2&explain=cities/" + id, "no-search": "/search", "not-searched": "/search?q=away",
	}
}

// TestEverybodyCanUseThePages has axe read them, in light and dark, on a phone and on a desktop,
// where nothing makes the page wider than the window.
func TestEverybodyCanUseThePages(t *testing.T) {
	d := openHostileDesk(t)
	source := axe(t)
	pages := d.fullPages()
	pages["failed"] = "/"
	c := openChromium(t)
	for name, path := range pages {
		c.open(d.server.URL + path)
		if name == "failed" {
			c.eval(`(document.querySelector('form[action="/dead/retry"] [name=version]').value = "none", document.querySelector('form[action="/dead/retry"] button').click())`)
			c.until(`document.readyState == "complete" && document.title`, "riskdex: not done")
		}
		c.eval(`document.querySelectorAll("details").forEach(d => d.open = true)`)
		c.do("Runtime.evaluate", map[string]any{"expression": source}, nil)
		for _, width := range []int{320, 1280} {
			for _, colours := range []string{"light", "dark"} {
				c.look(width, 900, width < 500, colours)
				if os.Getenv(screenshotsVariable) != "" {
					c.picture(fmt.Sprintf("axe-%s-%d-%s", name, width, colours))
				}
				if got := c.eval("document.documentElement.scrollWidth"); got != fmt.Sprint(width) {
					t.Errorf("%s: the page is %s wide, and the window %d", name, got, width)
				}
				if got := c.eval(`[...document.querySelectorAll(".card dl div")].filter(e => e.firstElementChild.offsetTop != e.lastElementChild.offsetTop).map(e => e.innerText)`); got != "" {
					t.Errorf("%s, %d wide: these facts are broken into two lines: %s", name, width, got)
				}
				for _, barrier := range c.barriers() {
					t.Errorf("%s, %d wide, %s: %s", name, width, colours, barrier)
				}
			}
		}
	}
}

// TestPagesByKeyboard goes through every page with the tab key alone: it reaches everything that
// can be used, in the order in which it is read, and shows where it is.
func TestPagesByKeyboard(t *testing.T) {
	d := openHostileDesk(t)
	pages := d.fullPages()
	c := openChromium(t)
	c.look(1280, 900, false, "light")
	for name, path := range pages {
		c.open(d.server.URL + path)
		c.eval(`(window.usable = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary, [tabindex]")].filter(e => e.checkVisibility()), 0)`)
		usable := c.eval("usable.length")
		var order, hidden []string
		for range 400 {
			c.press("Tab")
			at := c.eval("usable.indexOf(document.activeElement)")
			if at == "-1" || len(order) > 0 && at == order[0] { // the end of the page
				break
			}
			order = append(order, at)
			if c.eval(`getComputedStyle(document.activeElement).outlineStyle`) == "none" {
				hidden = append(hidden, c.eval("document.activeElement.outerHTML"))
			}
		}
		if len(hidden) > 0 {
			t.Errorf("%s: the focus cannot be seen on %q", name, hidden)
		}
		if len(order) == 0 || usable != fmt.Sprint(len(order)) || order[len(order)-1] != fmt.Sprint(len(order)-1) {
			t.Errorf("%s: of %s things to use the tab key reaches %d, in the order %s", name, usable, len(order), strings.Join(order, " "))
		}
	}
	c.open(d.server.URL + "/search?kind=cities")
	c.press("Tab") // the heading, which leads home
	c.press("Tab")
	c.do("Input.insertText", map[string]any{"text": "sydney"}, nil)
	c.press("Enter")
	c.until(`document.readyState == "complete" && location.search`, "?q=sydney&kind=cities&country=&risk_at_least=&threat=&near=&within_km=&valid_on=&sort=")
	c.press("/")
	c.until("document.activeElement.name", "q")
}

// press presses a key and lets it go.
func (c *chromium) press(key string) {
	c.t.Helper()
	code, text := map[string]int{"Tab": 9, "Enter": 13, "/": 191}[key], map[string]string{"Enter": "\r", "/": "/"}[key]
	for _, kind := range []string{"keyDown", "keyUp"} {
		c.do("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text}, nil)
	}
}
