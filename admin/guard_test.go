package admin_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"riskdex/report"
)

// TestWebPagesChangeNothing sends what browsers send on behalf of pages.
func TestWebPagesChangeNothing(t *testing.T) {
	d := openDesk(t)
	d.deliver("PUT", "/cities/1", `{"t":"poison"}`)
	d.index()
	send := func(method, host string, header ...string) int {
		req := httptest.NewRequest(method, "http://"+host+"/api/dead/drop?all=true", strings.NewReader(""))
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		rec := httptest.NewRecorder()
		d.server.Config.Handler.ServeHTTP(rec, req)
		return rec.Code
	}
	for name, c := range map[string]struct {
		host   string
		header []string
	}{
		"another site":              {"127.0.0.1:8081", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}},
		"another site, old browser": {"127.0.0.1:8081", []string{"Origin", "https://evil.example"}},
		"another port":              {"127.0.0.1:8081", []string{"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:9999"}},
		"hidden origin":             {"127.0.0.1:8081", []string{"Origin", "null"}},
		// A page under a name that its owner has made to point here.
		"DNS rebinding":              {"evil.example:8081", []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://evil.example:8081"}},
		"DNS rebinding, old browser": {"evil.example:8081", []string{"Origin", "http://evil.example:8081"}},
	} {
		if status := send(http.MethodPost, c.host, c.header...); status != http.StatusForbidden {
			t.Errorf("%s: %d", name, status)
		}
	}
	if got := d.dead(report.Cities, 10, ""); len(got) != 1 {
		t.Fatalf("a web page has dropped a dead letter: %v are left", got)
	}
	for name, c := range map[string]struct {
		host   string
		header []string
	}{
		"a program":                 {"127.0.0.1:8081", nil},
		"a program, by name":        {"riskdex.internal:8081", nil},
		"a page of riskdex":         {"127.0.0.1:8081", []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://127.0.0.1:8081"}},
		"a page of riskdex on IPv6": {"[::1]:8081", []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://[::1]:8081"}},
		"on localhost":              {"localhost:8081", []string{"Origin", "http://localhost:8081"}},
	} {
		if status := send(http.MethodPost, c.host, c.header...); status != http.StatusOK {
			t.Errorf("%s: %d", name, status)
		}
	}
}

// TestWebPagesReadNothing sends what browsers send on behalf of pages under a name that its
// owner has made to point here, and what other clients send that use a name.
func TestWebPagesReadNothing(t *testing.T) {
	d := openStatusDesk(t)
	get := func(method, host, path string, header ...string) int {
		req := httptest.NewRequest(method, "http://127.0.0.1"+path, nil)
		req.Host = host
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		rec := httptest.NewRecorder()
		d.server.Config.Handler.ServeHTTP(rec, req)
		return rec.Code
	}
	const name = "evil.example:8081"
	for what, header := range map[string][]string{
		"by fetch, over TLS":                  {"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors"},
		"by a form, over TLS":                 {"Origin", "http://" + name, "Sec-Fetch-Site", "same-origin"},
		"in a new window, over TLS":           {"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"},
		"of a browser that says its site":     {"Sec-Fetch-Site", "same-origin"},
		"of a browser that says its mode":     {"Sec-Fetch-Mode", "cors"},
		"by fetch, old browser":               {"Origin", "http://" + name},
		"by fetch, over HTTP":                 {"Accept-Language", "en-US,en;q=0.9"},
		"by fetch, over HTTP, in no language": {"Accept-Language", ""},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions} {
			for _, path := range []string{"/", "/search?q=x", "/api/status", "/api/refused", "/api/dead", "/metrics", "/debug/pprof/heap", "/livez/../api/dead"} {
				if status := get(method, name, path, header...); status != http.StatusForbidden {
					t.Errorf("%s %s, %s, is answered %d, want 403", method, path, what, status)
				}
			}
		}
	}
	for what, c := range map[string]struct {
		host, path string
		header     []string
	}{
		"curl, by name":                     {"riskdex.internal:8081", "/api/refused", nil},
		"Prometheus, by name":               {"riskdex:8081", "/metrics", []string{"User-Agent", "Prometheus/3.5.0", "Accept-Encoding", "gzip", "Accept", "application/openmetrics-text", "X-Prometheus-Scrape-Timeout-Seconds", "10"}},
		"a supervisor, by any name":         {"whatever", "/readyz", []string{"User-Agent", "kube-probe/1.34"}},
		"a supervisor that is half browser": {"whatever", "/livez", []string{"Accept-Language", "en"}},
		"a person, by address":              {"192.0.2.7:8081", "/", []string{"Accept-Language", "en"}},
		"a person, by address alone":        {"[2001:db8::7]", "/", []string{"Accept-Language", "en"}},
		"a person, on localhost":            {"localhost:8081", "/", []string{"Accept-Language", "en", "Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"}},
		"a person who follows a link":       {"localhost:8081", "/", []string{"Accept-Language", "en", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}},
		"the page that reads itself again":  {"127.0.0.1:8081", "/", []string{"Accept-Language", "en", "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors"}},
	} {
		if status := get(http.MethodGet, c.host, c.path, c.header...); status != http.StatusOK {
			t.Errorf("%s is answered %d, want 200", what, status)
		}
	}
}
