package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"riskdex/internal/testkit/require"
)

// form is a form of the page, as a browser would send it.
type form struct {
	action string
	values url.Values
}

func (d *statusDesk) forms() []form {
	d.t.Helper()
	res, err := http.Get(d.server.URL + "/")
	require.NoError(d.t, err)
	defer res.Body.Close()
	root, err := html.Parse(res.Body)
	require.NoError(d.t, err)
	var forms []form
	for n := range root.Descendants() {
		if n.Data != "form" || attribute(n, "method") != "post" {
			continue
		}
		f := form{attribute(n, "action"), url.Values{}}
		for in := range n.Descendants() {
			if in.Data == "input" {
				value := strings.ReplaceAll(attribute(in, "value"), "\n", "\r\n") // as browsers do
				f.values.Set(attribute(in, "name"), value)
			}
		}
		forms = append(forms, f)
	}
	return forms
}

// press sends a form and returns the status of the answer and its Location.
func (d *statusDesk) press(f form, header ...string) (int, string) {
	d.t.Helper()
	req, err := http.NewRequest("POST", d.server.URL+f.action, strings.NewReader(f.values.Encode()))
	require.NoError(d.t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", d.server.URL)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(d.t, err)
	res.Body.Close()
	return res.StatusCode, res.Header.Get("Location")
}

func (d *statusDesk) form(action string) form {
	d.t.Helper()
	for _, f := range d.forms() {
		if f.action == action {
			return f
		}
	}
	d.t.Fatalf("no form for %s", action)
	return form{}
}

// TestButtons presses each button for a document whose id a form could not carry unencoded.
func TestButtons(t *testing.T) {
	d := openHostileDesk(t)
	d.deliver("POST", "/cities", `{"t":"no id"}`)
	if n := len(d.forms()); n != 2*(3+2) {
		t.Errorf("the page has %d forms", n)
	}
	if status, to := d.press(d.form("/dead/retry")); status != http.StatusSeeOther || to != "/?done=dead-retry" {
		t.Errorf("the retry is answered %d %q", status, to)
	}
	if page, _ := d.read(http.StatusOK, "/?done=dead-retry"); !strings.Contains(page, "accepted once more") {
		t.Error("the page does not report the retry")
	}
	st := d.status()
	if st.DeadTotal != 2 || st.Kinds[0].Pending != 1 {
		t.Errorf("after the retry: %d dead, %d pending", st.DeadTotal, st.Kinds[0].Pending)
	}
	if status, _ := d.press(d.form("/dead/drop")); status != http.StatusSeeOther {
		t.Errorf("the drop is answered %d", status)
	}
	if st := d.status(); st.DeadTotal != 1 {
		t.Errorf("after the drop: %d dead", st.DeadTotal)
	}
	// The record of the newest refusal has no id, so a retry fails unless --ids changes.
	if status, _ := d.press(d.form("/refused/retry")); status != http.StatusUnprocessableEntity {
		t.Errorf("the retry of a delivery without an id is answered %d", status)
	}
	for left := 1; left >= 0; left-- {
		if status, to := d.press(d.form("/refused/drop")); status != http.StatusSeeOther || to != "/?done=refused-drop" {
			t.Errorf("the drop of a refusal is answered %d %q", status, to)
		}
		if st := d.status(); st.RefusedTotal != left {
			t.Errorf("%d refusals are left, want %d", st.RefusedTotal, left)
		}
	}
	// A button on an old page does not affect a newer version.
	old := d.form("/dead/drop")
	d.deliver("PUT", "/"+old.values.Get("kind")+"/"+url.PathEscape(hostileID), `{"t":"poison again"}`)
	d.index()
	if status, _ := d.press(old); status != http.StatusConflict {
		t.Errorf("the drop of a replaced version is answered %d", status)
	}
	d.conserved()
}

// TestButtonsAreForReadersOfThePage sends forms that others could send.
func TestButtonsAreForReadersOfThePage(t *testing.T) {
	d := openHostileDesk(t)
	with := func(name, value string) form {
		f := d.form("/dead/drop")
		f.values.Set(name, value)
		return f
	}
	for what, c := range map[string]struct {
		form   form
		header []string
		status int
	}{
		"no token":       {with("token", ""), nil, http.StatusForbidden},
		"another token":  {with("token", "AAAAAAAAAAAAAAAAAAAAAAAAAA"), nil, http.StatusForbidden},
		"another site":   {d.form("/dead/drop"), []string{"Origin", "http://evil.example"}, http.StatusForbidden},
		"hidden origin":  {d.form("/dead/drop"), []string{"Origin", "null"}, http.StatusForbidden},
		"not a document": {with("id", "%%%"), nil, http.StatusBadRequest},
		"no kind":        {with("kind", "countries"), nil, http.StatusBadRequest},
		"not a form":     {d.form("/dead/drop"), []string{"Content-Type", "text/plain"}, http.StatusForbidden},
	} {
		if status, _ := d.press(c.form, c.header...); status != c.status {
			t.Errorf("%s is answered %d, want %d", what, status, c.status)
		}
	}
	if st := d.status(); st.DeadTotal != 3 {
		t.Fatalf("%d dead letters are left", st.DeadTotal)
	}
	// One form ends one dead letter, whatever it asks.
	d.deliver("PUT", "/cities/second", `{"t":"poison"}`)
	d.index()
	all := with("all", "true")
	all.action += "?all=true"
	d.press(all)
	if st := d.status(); st.DeadTotal != 3 {
		t.Errorf("%d dead letters are left", st.DeadTotal)
	}
}
