package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"

	"riskdex/internal/testkit/freeport"
	"riskdex/internal/testkit/prometheus"
	"riskdex/internal/testkit/prometheus/prometheustest"
	"riskdex/internal/testkit/require"
)

// watched is a riskdex with a way to Elasticsearch that can be cut, and with real
// Prometheus servers that scrape it.
type watched struct {
	*process
	cut, cutBulks  atomic.Bool
	another        atomic.Bool        // it leads to another cluster, by its id, by turns
	server, native *prometheus.Server // native stores native histograms
	open           map[string]string  // from queries that have found nothing yet to what they are for
	glanced        map[int]bool       // open panels that have shown an incident
	searches       string             // address of searches of apps
}

// watch starts everything, and returns when both servers have scraped once, so that they
// see everything from now on as an increase.
func watch(t *testing.T, elasticsearch string, extra ...string) *watched {
	t.Helper()
	prometheustest.Need(t)
	w := &watched{open: map[string]string{}, glanced: map[int]bool{}}
	target, err := url.Parse(elasticsearch)
	require.NoError(t, err)
	way := httputil.NewSingleHostReverseProxy(target)
	var looks atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.cut.Load() || w.cutBulks.Load() && strings.HasSuffix(r.URL.Path, "/_bulk") {
			panic(http.ErrAbortHandler)
		}
		if w.another.Load() && strings.HasPrefix(r.URL.Path, "/_cluster/state/") && looks.Add(1)%2 == 0 {
			rw.Header().Set("X-Elastic-Product", "Elasticsearch")
			_, _ = io.WriteString(rw, `{"cluster_uuid":"another"}`)
			return
		}
		way.ServeHTTP(rw, r)
	}))
	t.Cleanup(proxy.Close)
	w.process = newProcess(t, proxy.URL, extra...)
	w.start()
	o := prometheus.Options{
		Home: t.TempDir(), Config: "../../dashboards/prometheus.yml", Rules: hastyRules(t),
		Target: w.admin, Port: freePort(t), Interval: 500 * time.Millisecond,
	}
	w.server = prometheustest.Start(t, o)
	o.Home, o.Port, o.NativeHistograms = t.TempDir(), freePort(t), true
	w.native = prometheustest.Start(t, o)
	for _, s := range []*prometheus.Server{w.server, w.native} {
		eventually(t, "Prometheus has scraped riskdex", func() bool { return s.Scraped(t.Context()) == nil })
	}
	return w
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := freeport.Find()
	require.NoError(t, err)
	return port
}

// haste is the factor by which the alerts wait for less time here than in production.
const haste = 60

// hastyRules returns a copy of the rules with the same expressions, in which every alert
// waits for less time.
func hastyRules(t *testing.T) (path string) {
	t.Helper()
	text, err := os.ReadFile("../../dashboards/rules.yml")
	require.NoError(t, err)
	var file struct {
		Groups []struct {
			Name  string           `yaml:"name"`
			Rules []map[string]any `yaml:"rules"`
		} `yaml:"groups"`
	}
	strict := yaml.NewDecoder(bytes.NewReader(text))
	strict.KnownFields(true) // so that no part of the file is lost
	require.NoError(t, strict.Decode(&file))
	shortened := 0
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if wait, ok := r["for"].(string); ok {
				d, err := model.ParseDuration(wait)
				require.NoError(t, err)
				r["for"] = (d / haste).String()
				shortened++
			}
		}
	}
	if shortened == 0 {
		t.Fatal("no alert of the rules waits")
	}
	out, err := yaml.Marshal(file)
	require.NoError(t, err)
	path = filepath.Join(t.TempDir(), "rules.yml")
	require.NoError(t, os.WriteFile(path, out, 0o600))
	return path
}

// values returns the values that a query finds now, without NaN.
func values(t *testing.T, s *prometheus.Server, query string) []float64 {
	t.Helper()
	var data struct {
		Result []struct{ Value [2]any }
	}
	if err := s.Ask(t.Context(), "/api/v1/query", url.Values{"query": {query}}, &data); err != nil {
		t.Fatalf("%v; the query is %s", err, query)
	}
	var found []float64
	for _, sample := range data.Result {
		v, err := strconv.ParseFloat(fmt.Sprint(sample.Value[1]), 64)
		require.NoError(t, err)
		if !math.IsNaN(v) {
			found = append(found, v)
		}
	}
	return found
}

// until waits like eventually. Meanwhile it runs the queries that have found nothing yet,
// because some have data only for a moment.
func (w *watched) until(what string, ok func() bool) {
	w.t.Helper()
	eventually(w.t, what, func() bool {
		for query := range w.open {
			if len(values(w.t, w.server, query)) > 0 {
				delete(w.open, query)
			}
		}
		return ok()
	})
}

// fires waits until an alert is raised, calls repair, and waits until the alert is cleared.
func (w *watched) fires(alert string, repair func()) {
	w.t.Helper()
	firing := fmt.Sprintf(`ALERTS{alertname=%q, alertstate="firing"}`, alert)
	w.until(alert+" fires", func() bool { return len(values(w.t, w.server, firing)) > 0 })
	repair()
	w.until(alert+" is cleared", func() bool { return len(values(w.t, w.server, firing)) == 0 })
}
