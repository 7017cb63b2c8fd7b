package main

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"riskdex/internal/sanitize"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/report"
)

// TestHostileNames delivers under paths and ids that could be taken for something else.
// Each is refused, or is byte for byte the id of its document.
func TestHostileNames(t *testing.T) {
	const line = "time=2026-01-01T00:00:00Z level=ERROR msg=forged"
	ids := []string{
		"../../etc/passwd", "..", ".", "/", "//", "a/b", "a%2Fb", "%", "%00", `..\..\x`, "a?b#c", "a;b=c",
		"a\r\nX-Injected: yes", "a\n" + line, `a" ` + line + ` forged="x`, "a\x00b", "\x00", " ", "\t", "\x1b[31mred\x1b]0;title\a", "\u009b2J\u0085\u2028",
		"\u202egnp.exe", "\u2066a\u2069", "\ufeff", "e\u0301", "\u00e9", "😀", "'; DROP TABLE documents; --", "<script>alert(1)</script>",
		"_all", "_bulk", "*", "-5", "{}", strings.Repeat("x", report.MaxIDBytes), "x\x7f",
	}
	paths := map[string]string{ // from the path in the request to the status
		"/cities/" + strings.Repeat("x", report.MaxIDBytes+1):       "422",
		"/cities/" + strings.Repeat("%0a", report.MaxIDBytes) + "x": "422",
		"/cities/%ff":                 "422",
		"/cities/%c0%af":              "422", // an overlong slash
		"/cities/%c0%ae%c0%ae/x":      "404",
		"/cities/%ed%a0%80":           "422", // half a surrogate pair
		"/cities/%zz":                 "400",
		"/cities/%":                   "400",
		"/cities/a b":                 "400",
		"/cities/a\x00b":              "400",
		"/cities/a\x1bb":              "400",
		"/cities/../advisories/1":     "404",
		"/cities/x/../../cities/1":    "404",
		"//cities/1":                  "404",
		"/cities//1":                  "404",
		"/cities/1/":                  "404",
		"/cities/":                    "404",
		"/CITIES/1":                   "404",
		"/cities%2F1":                 "404",
		"/%2e%2e/cities/1":            "404",
		"/./cities/1":                 "404",
		"\\cities\\1":                 "400",
		"/cities\x0b/1":               "400",
		"/debug/pprof/cmdline":        "404",
		"/metrics":                    "404",
		"/%0a" + url.PathEscape(line): "404",
	}
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			a := attack(t, elastictest.URL(t), format)
			want := []string{"alive"}
			for _, id := range ids {
				said := a.raw(a.request("PUT", "/cities/"+url.PathEscape(id), `{"title":"`+marker+`"}`))
				if !strings.HasPrefix(said, "HTTP/1.1 202 ") {
					t.Errorf("PUT %q is answered %.300q, want 202", id, said)
				}
				want = append(want, id)
			}
			for path, status := range paths {
				said := a.raw(a.request("PUT", path, `{"title":"`+marker+`"}`))
				if !strings.HasPrefix(said, "HTTP/1.1 "+status+" ") {
					t.Errorf("%q: %.300q, want %s", path, said, status)
				}
				if strings.Contains(said, "\nX-Injected") {
					t.Errorf("%q writes a header: %q", path, said)
				}
			}
			// Ids and members of bodies get into logs and answers too.
			for _, body := range []string{
				`{"id":"` + strings.Repeat("x", 600) + `","t":"` + marker + `"}`,
				`{"id":"\u001b[31m\n` + line + strings.Repeat(" ", 600) + `","t":"` + marker + `"}`,
				`{"id":"\u009b\u202e\u007f` + strings.Repeat(" ", 600) + `","t":"` + marker + `"}`,
				"{\"id\":1,\"\\u202e\u009b\u007f\\n" + line + `":{"a":1,"a":"` + marker + `"}}`,
				`{"id":1,"t":"` + marker, `"` + marker + `"`, "\x1b\n" + line, "",
			} {
				if said := a.raw(a.request("POST", "/cities", body)); !strings.HasPrefix(said, "HTTP/1.1 4") {
					t.Errorf("the body %.60q is answered %.300q, want 4xx", body, said)
				}
			}
			// So do methods and headers.
			for _, header := range []string{"User-Agent", "Traceparent", "X-Forwarded-For", "Content-Type", "Content-Encoding", "Host"} {
				hostile := strings.Replace(a.request("PUT", "/cities/x/y", `{"t":1}`), "\r\n", "\r\n"+header+": \"\u009b\u202e level=ERROR msg=forged\r\n", 1)
				if said := a.raw(hostile); strings.HasPrefix(said, "HTTP/1.1 2") {
					t.Errorf("a hostile %s is answered %.300q", header, said)
				}
			}
			for _, method := range []string{"forged", "X'\"", strings.Repeat("X", 30_000), "P\x1bT"} {
				if said := a.raw(a.request(method, "/cities/1", "{}")); !strings.HasPrefix(said, "HTTP/1.1 4") {
					t.Errorf("the method %.30q is answered %.300q, want 4xx", method, said)
				}
			}
			a.alive()
			a.drained()
			got := slices.Collect(maps.Keys(a.indexed(report.Cities)))
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("documents %q, want %q", got, want)
			}
			a.showsNothingRaw("refused", "list")
			a.showsNothingRaw("refused", "show", "1")
			a.showsNothingRaw("status")
			a.showsNothingRaw("dead", "list")
			a.unharmed(format)
		})
	}
}

// showsNothingRaw runs a command and checks that its output does not control a terminal.
func (a *attacked) showsNothingRaw(args ...string) {
	a.t.Helper()
	said := a.command("", args...)
	if said.status == exitFailed || said.out == "" {
		a.t.Errorf("%v ended with %d, %q", args, said.status, said.errs)
	}
	for _, r := range said.out + said.errs {
		if sanitize.Unsafe(r) && r != '\n' && r != '\t' {
			a.t.Errorf("%v prints %U: %q", args, r, said.out)
			return
		}
	}
}
