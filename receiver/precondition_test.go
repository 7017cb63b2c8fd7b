package receiver

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"riskdex/receiver/auth"
)

// TestPreconditions delivers with the preconditions of RFC 9110: to what is there, to what is
// gone and to what never was. What is not answered with 202 changes nothing, and is not kept.
func TestPreconditions(t *testing.T) {
	const there, never, gone = "/cities/1", "/cities/2", "/cities/3"
	g := guard(t, auth.Config{})
	date := func(d time.Duration) string { return g.now().Add(d).UTC().Format(http.TimeFormat) }
	for _, c := range []struct {
		method, path, name, value string
		status                    int
	}{
		{"PUT", there, "If-Match", "*", 202},
		{"PUT", there, "If-Match", "VERSION", 202},
		{"PUT", there, "If-Match", ` "7" , VERSION`, 202},
		{"PUT", there, "If-Match", `"7"`, 412},
		{"PUT", there, "If-Match", `W/VERSION`, 412},
		{"PUT", there, "If-Match", `7`, 412},
		{"PUT", there, "If-Match", `VERSION, 7`, 412},
		{"PUT", there, "If-Match", `*, VERSION`, 412},
		{"PUT", there, "If-Match", ``, 412},
		{"PUT", "/cities/LON", "If-Match", "VERSION", 202},
		{"PUT", never, "If-Match", "*", 412},
		{"PUT", never, "If-Match", `"0"`, 412},
		{"PUT", never, "If-Match", `"7"`, 412},
		{"PUT", gone, "If-Match", "*", 412},
		{"PUT", gone, "If-Match", "VERSION", 412},
		{"PUT", there, "If-None-Match", "*", 412},
		{"PUT", "/cities/LON", "If-None-Match", "*", 412},
		{"PUT", there, "If-None-Match", "VERSION", 412},
		{"PUT", there, "If-None-Match", "W/VERSION", 412},
		{"PUT", there, "If-None-Match", `"a,b","7",VERSION`, 412},
		{"PUT", there, "If-None-Match", `"7"`, 202},
		{"PUT", there, "If-None-Match", "7", 412},
		{"PUT", never, "If-None-Match", "*", 202},
		{"PUT", gone, "If-None-Match", "*", 202},
		{"PUT", gone, "If-None-Match", "VERSION", 202},
		{"PUT", there, "If-Unmodified-Since", date(0), 202},
		{"PUT", there, "If-Unmodified-Since", date(-time.Second), 412},
		{"PUT", there, "If-Unmodified-Since", "yesterday", 412},
		{"PUT", never, "If-Unmodified-Since", date(-time.Second), 202},
		{"PUT", there, "If-Modified-Since", date(time.Hour), 202}, // for GET and HEAD
		{"DELETE", there, "If-Match", `"7"`, 412},
		{"DELETE", there, "If-None-Match", "*", 412},
		{"DELETE", there, "If-Unmodified-Since", date(-time.Hour), 412},
		{"DELETE", gone, "If-Match", `"7"`, 202}, // what it asks for is so
		{"DELETE", gone, "If-Match", "*", 202},
		{"DELETE", never, "If-Match", `"7"`, 202},
		{"DELETE", there, "If-Match", "*", 202},
		{"DELETE", there, "If-Match", "VERSION", 202},
		{"DELETE", "/cities/LON", "If-Match", "*", 202},
		{"POST", "/cities", "If-Match", "*", 412},
		{"POST", "/cities", "If-None-Match", "*", 412},
		{"POST", "/cities", "If-Unmodified-Since", date(time.Hour), 412},
	} {
		g.close()
		g.dir = t.TempDir()
		g.open()
		g.send("PUT", gone, `{"id":3}`)
		g.send("DELETE", gone, "")
		first := g.send("PUT", there, `{"id":1,"code":"LON"}`)
		version, _, _ := strings.Cut(first.Delivery, "-")
		before, body := g.accepted(), `{"title":"new"}`
		switch {
		case c.method == "POST":
			body = `{"id":2}`
		case c.method == "DELETE":
			body = ""
		}
		got := g.send(c.method, c.path, body, c.name, strings.ReplaceAll(c.value, "VERSION", `"`+version+`"`))
		switch {
		case got.status != c.status:
			t.Errorf("%s %s with %s: %s is answered %+v, want %d", c.method, c.path, c.name, c.value, got, c.status)
		case c.status == 412 && (got.Reason != reasonOutdated || g.accepted() != before || len(g.kept()) != 0):
			t.Errorf("%s %s with %s: %s is answered %+v, and %d changes and %d refusals are kept",
				c.method, c.path, c.name, c.value, got, g.accepted()-before, len(g.kept()))
		}
	}
	if got := g.send("PUT", there, "{", "If-Match", `"7"`); got.status != http.StatusBadRequest {
		t.Errorf("what is refused in any case is answered %+v, want 400", got)
	}
}

// TestPartOfARecordIsRefused: the rest of the record would be lost.
func TestPartOfARecordIsRefused(t *testing.T) {
	d := open(t, nil)
	for _, method := range []string{"PUT", "POST"} {
		path := map[string]string{"PUT": "/cities/1", "POST": "/cities"}[method]
		got := d.send(method, path, `{"id":1}`, "Content-Range", "bytes 0-7/100")
		if got.status != http.StatusBadRequest || got.Reason != "truncated" || len(d.changes()) != 0 {
			t.Errorf("%s of a part is answered %+v", method, got)
		}
	}
	if kept := d.refusals(); len(kept) != 2 || !kept[0].Cut {
		t.Errorf("kept are %+v, want both, as parts", kept)
	}
}
