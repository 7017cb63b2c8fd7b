package admin_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/report"
)

// TestPageInABrowser has a real browser read the page with hostile content, in
// light and dark, on a desktop and on a phone, and press its buttons.
func TestPageInABrowser(t *testing.T) {
	d := openHostileDesk(t)
	d.lagged(40)
	c := openChromium(t)
	search := d.server.URL + "/search?q=" + url.QueryEscape("title")
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
		for name, page := range map[string]string{"hostile-status": d.server.URL + "/", "hostile-search": search} {
			c.open(page)
			if got := c.eval("document.documentElement.dataset.owned"); got != "undefined" {
				t.Errorf("%s %s: a script from outside has run: %s", name, look.name, got)
			}
			if got := c.eval("document.documentElement.scrollWidth"); got != fmt.Sprint(look.width) {
				t.Errorf("%s %s: the page is %s wide, and the window %d", name, look.name, got, look.width)
			}
			picture, err := png.Decode(bytes.NewReader(c.picture(name + "-" + look.name)))
			must(t, err)
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
	// Not while somebody uses it.
	c.eval("window.fetch = function () { window.fetched = true; return Promise.reject() }")
	for _, used := range []string{`document.querySelector("input").focus()`, `document.body.appendChild(document.createElement("details")).open = true`} {
		if got := c.eval("(" + used + ", tick(), window.fetched)"); got != "undefined" {
			t.Errorf("it loads itself again after %s", used)
		}
		c.eval(`(document.activeElement.blur(), 0)`)
	}
	// When there is nobody to ask, it says that it is old.
	c.until(`getComputedStyle(document.querySelector(".aged")).display`, "none")
	c.eval(`(document.querySelector("details").remove(), tick())`)
	c.until(`getComputedStyle(document.querySelector(".aged")).display`, "block")
}

// TestReboundNameInABrowser has a page under a name that points here by now read what is
// kept. A real browser says of plain HTTP much less than of TLS.
func TestReboundNameInABrowser(t *testing.T) {
	d := openStatusDesk(t)
	d.deliver("POST", "/cities", `[{"title":"no id"}]`)
	c := openChromium(t, "--host-resolver-rules=MAP rebound.example 127.0.0.1")
	read := func(path, more string) string {
		return c.eval(`(x => (x.open("GET", "` + path + `", false), ` + more + ` x.send(), x.status + " " + x.responseText))(new XMLHttpRequest())`)
	}
	rebound := strings.Replace(d.server.URL, "127.0.0.1", "rebound.example", 1)
	c.open(rebound + "/livez") // the page's script is in place of the owner's
	for _, path := range []string{"/", "/api/refused", "/metrics"} {
		for _, more := range []string{``, `x.setRequestHeader("Accept-Language", ""), x.setRequestHeader("Accept", "*/*"), x.setRequestHeader("User-Agent", "curl/8"),`} {
			if got := read(path, more); !strings.HasPrefix(got, "403 ") {
				t.Errorf("a page reads %s: %.100s", path, got)
			}
		}
	}
	c.open(rebound + "/api/refused") // as in a window that it opens, and may look into
	if got := c.eval("document.body.innerText"); !strings.Contains(got, `"status":403`) {
		t.Errorf("in a window: %s", got)
	}
	c.open(d.server.URL + "/livez")
	if got := read("/api/refused", ``); !strings.HasPrefix(got, `200 {"items":[{`) {
		t.Errorf("a page of riskdex's own reads %s", got)
	}
}

// TestUsualPageInABrowser is for the eye: how it looks on an ordinary day.
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
		d.last.Note(admin.Delivery{At: d.now.Add(time.Duration(i) * time.Second), Kind: report.Cities, Method: "POST", Status: status, Accepted: (2 - i) / 2, Refused: i % 2})
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

// lagged gives the history so many minutes up to now, in which a change waited
// now and then.
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

// isDark looks at the corner of a picture.
func isDark(picture image.Image) bool {
	return color.GrayModel.Convert(picture.At(1, 1)).(color.Gray).Y < 128
}
