package receiver

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"riskdex/receiver/auth"
	"riskdex/report"
)

// TestHealthChecksAreNoStrangers: a balancer may ask without credentials, and what it asks is no
// delivery that was turned away.
func TestHealthChecksAreNoStrangers(t *testing.T) {
	var ready error
	var seen []report.Answered
	g := guard(t, auth.Config{BearerFiles: secretFile(t, "a-token-of-the-publisher")})
	g.prefix = "/api/v1"
	g.change = func(c *Config) {
		c.Ready = func() error { return ready }
		c.Observe = func(a report.Answered) { seen = append(seen, a) }
	}
	g.close()
	g.open()
	for _, c := range []struct {
		path   string
		ready  error
		status int
		body   string
	}{
		{"/", nil, 200, "deliveries"}, {"/", errors.New("no disk"), 200, "deliveries"},
		{"/livez", nil, 200, "ok\n"}, {"/livez", errors.New("no disk"), 200, "ok\n"},
		{"/readyz", nil, 200, "ok\n"}, {"/readyz", errors.New("no disk"), 503, "cannot be accepted"},
		{"/health", nil, 401, "Authorization is missing"}, {"/api/v1/cities", nil, 401, "Authorization is missing"},
	} {
		ready = c.ready
		for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
			req, err := http.NewRequest(method, g.url+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(res.Body)
			res.Body.Close()
			if res.StatusCode != c.status || err != nil || method != "HEAD" && !strings.Contains(string(text), c.body) || strings.Contains(string(text), "disk") {
				t.Errorf("%s %s is answered %s %q, %v; want %d %q", method, c.path, res.Status, text, err, c.status, c.body)
			}
			if res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") == "" {
				t.Errorf("%s %s does not say when to ask again", method, c.path)
			}
		}
	}
	if n := g.counted("riskdex_changes_refused_total"); n != 0 || len(seen) != 0 || strings.Contains(g.log.String(), "rejected") || len(g.kept()) != 0 {
		t.Errorf("%v are counted as refused, %d are told, and the log is:\n%s", n, len(seen), g.log)
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
		seen = nil
		if got := g.send(method, "/", "{}"); got.status != http.StatusUnauthorized || len(seen) != 1 {
			t.Errorf("%s / is answered %+v, and %d are told", method, got, len(seen))
		}
		seen = nil
		if got := g.signed(method, "/readyz", "", "{}"); got.status != http.StatusNotFound || len(seen) != 1 {
			t.Errorf("%s /readyz of the publisher is answered %+v, and %d are told", method, got, len(seen))
		}
	}
	if n := g.counted("riskdex_changes_refused_total"); n != 8 || len(g.kept()) != 4 {
		t.Errorf("%v deliveries to the wrong path are counted as refused and %d kept, want 8 and 4", n, len(g.kept()))
	}
}
