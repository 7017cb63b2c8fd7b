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
		// A name that its owner has made to point here, and a page under it.
		"DNS rebinding":              {"evil.example:8081", []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://evil.example:8081"}},
		"DNS rebinding, old browser": {"evil.example:8081", []string{"Origin", "http://evil.example:8081"}},
	} {
		if status := send(http.MethodPost, c.host, c.header...); status != http.StatusForbidden {
			t.Errorf("%s: %d", name, status)
		}
	}
	if got := d.dead(report.Cities, 10, ""); len(got) != 1 {
		t.Fatalf("a web page has dropped something: %v are left", got)
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
