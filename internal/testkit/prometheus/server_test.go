package prometheus_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/child/childtest"
	"riskdex/internal/testkit/freeport"
	"riskdex/internal/testkit/prometheus"
	"riskdex/internal/testkit/prometheus/prometheustest"
)

// generous bounds every wait.
const generous = 90 * time.Second

// target is a riskdex as Prometheus sees one.
func target(t *testing.T) (address string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write([]byte("riskdex_elasticsearch_up 1\n"))
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// options returns the options of a server that scrapes the target every second, with the
// configuration and the rules of the repository.
func options(t *testing.T, target string) prometheus.Options {
	t.Helper()
	return prometheus.Options{
		Home:   t.TempDir(),
		Config: "../../../dashboards/prometheus.yml", Rules: "../../../dashboards/rules.yml",
		Target: target, Port: freePort(t), Interval: time.Second,
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// await calls ask until it returns no error.
func await(t *testing.T, ask func() error) {
	t.Helper()
	deadline := time.After(generous)
	for err := ask(); err != nil; err = ask() {
		select {
		case <-deadline:
			t.Fatal(err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// samples returns the values that a query finds now.
func samples(t *testing.T, s *prometheus.Server, query string) (values []string) {
	t.Helper()
	var data struct {
		Result []struct{ Value [2]any }
	}
	if err := s.Ask(t.Context(), "/api/v1/query", url.Values{"query": {query}}, &data); err != nil {
		t.Fatal(err)
	}
	for _, sample := range data.Result {
		values = append(values, sample.Value[1].(string))
	}
	return values
}

func TestScrapesTheTargetWithTheRules(t *testing.T) {
	s := prometheustest.Start(t, options(t, target(t)))
	await(t, func() error { return s.Scraped(t.Context()) })
	if n, err := s.Rules(t.Context()); n == 0 || err != nil {
		t.Errorf("%d rules, %v", n, err)
	}
	if got := samples(t, s, `riskdex_elasticsearch_up{job="riskdex"}`); len(got) != 1 || got[0] != "1" {
		t.Errorf("the series scraped are %q", got)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if err := s.Err(); err != nil {
		t.Errorf("a Stop counts as a failure: %v", err)
	}
	if _, err := http.Get(s.URL()); err == nil {
		t.Error("the server answers after it was stopped")
	}
}

func TestTellsThatTheTargetIsAway(t *testing.T) {
	prometheustest.Need(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	defer gone.Close()
	s := prometheustest.Start(t, options(t, gone.Listener.Addr().String()))
	await(t, func() error {
		err := s.Scraped(t.Context())
		if err == nil {
			t.Fatal("a target without metrics counts as scraped")
		}
		if strings.Contains(err.Error(), "404") {
			return nil
		}
		return err
	})
}

func TestStandsBesideWhatListensAlready(t *testing.T) {
	prometheustest.Need(t)
	first := options(t, target(t))
	s := prometheustest.Start(t, first)
	second := options(t, target(t))
	second.Port = first.Port
	other := prometheustest.Start(t, second)
	if s.URL() == other.URL() {
		t.Fatalf("both are at %s", s.URL())
	}
	await(t, func() error { return other.Scraped(t.Context()) })
	if err := s.Scraped(t.Context()); err != nil && !strings.Contains(err.Error(), "not been scraped yet") {
		t.Error(err)
	}
}

func TestTellsWhyItDoesNotStart(t *testing.T) {
	prometheustest.Need(t)
	o := options(t, target(t))
	o.Rules = filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(o.Rules, []byte("groups: [{name: g, rules: [{record: a, expr: 'sum('}]}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := prometheus.Start(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "parse error") || !strings.Contains(err.Error(), "prometheus.log") {
		t.Errorf("got %v", err)
	}
}

func TestTellsThatItDied(t *testing.T) {
	prometheustest.Need(t)
	o := options(t, target(t))
	s := prometheustest.Start(t, o)
	for _, process := range childtest.Processes(t, o.Home) {
		end(t, process)
	}
	select {
	case <-s.Done():
	case <-time.After(generous):
		t.Fatal("the server did not end")
	}
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), s.Log()) {
		t.Errorf("got %v", err)
	}
}

func TestTellsThatNoneIsInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := prometheus.Start(t.Context(), prometheus.Options{Home: t.TempDir()})
	if !errors.Is(err, prometheus.ErrMissing) {
		t.Errorf("got %v", err)
	}
}
