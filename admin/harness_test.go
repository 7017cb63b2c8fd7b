package admin_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/admin"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/receiver"
	"riskdex/report"
)

// desk is an admin listener and a receiver on a real journal. The tests act as the indexer,
// so that they decide what is refused.
type desk struct {
	t        *testing.T
	journal  *sqlite.Journal
	receiver *receiver.Receiver
	metrics  *prometheus.Registry
	server   *httptest.Server
}

func openDesk(t *testing.T) *desk {
	t.Helper()
	return openDeskOn(t, filepath.Join(t.TempDir(), "riskdex.db"))
}

func openDeskOn(t *testing.T, path string) *desk {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	d := &desk{t: t, metrics: prometheus.NewRegistry()}
	var err error
	d.journal, err = sqlite.Open(t.Context(), path, journal.Options{Log: log, History: 90 * 24 * time.Hour})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.journal.Close() })
	cfg := receiver.DefaultConfig()
	cfg.MaxBody = 10_000
	d.receiver, err = receiver.New(cfg, d.journal, time.Now, d.metrics, log)
	require.NoError(t, err)
	d.server = httptest.NewServer(admin.New(admin.Parts{
		DeadLetters: d.journal, Refusals: d.journal, Receiver: d.receiver, MaxBody: cfg.MaxBody, Log: log,
	}))
	t.Cleanup(d.server.Close)
	return d
}

// deliver makes a delivery and returns the status of its answer.
func (d *desk) deliver(method, path, body string) int {
	d.t.Helper()
	rec := httptest.NewRecorder()
	d.receiver.ServeHTTP(rec, httptest.NewRequest(method, path, strings.NewReader(body)))
	return rec.Code
}

// index settles all pending changes like an Elasticsearch that refuses every document with
// the word "poison", and returns the bodies of the others by id.
func (d *desk) index() map[string]string {
	d.t.Helper()
	taken := map[string]string{}
	for _, kind := range report.Kinds() {
		changes, err := d.journal.Claim(d.t.Context(), kind, 1000, 1<<20)
		require.NoError(d.t, err)
		var settlements []report.Settlement
		for _, c := range changes {
			s := report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed}
			switch {
			case strings.Contains(string(c.Body), "poison"):
				s.Outcome, s.ErrorType, s.Reason = report.Dead, "document_parsing_exception", "it is poison"
				if strings.Contains(string(c.Body), "strict") {
					s.ErrorType = "strict_dynamic_mapping_exception"
				}
			case c.Op == report.Delete:
				s.Outcome = report.Deleted
			default:
				taken[string(c.ID)] = string(c.Body)
			}
			settlements = append(settlements, s)
		}
		require.NoError(d.t, d.journal.Settle(d.t.Context(), settlements))
	}
	return taken
}

// call makes a call, checks its status, and decodes the answer into v, or returns the
// detail of the problem.
func (d *desk) call(status int, method, path, body string, v any) string {
	d.t.Helper()
	req, err := http.NewRequest(method, d.server.URL+path, strings.NewReader(body))
	require.NoError(d.t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(d.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(d.t, err)
	if res.StatusCode != status {
		d.t.Fatalf("%s %s is answered %d %s, want %d", method, path, res.StatusCode, text, status)
	}
	if status == http.StatusOK {
		if v != nil {
			require.NoError(d.t, json.Unmarshal(text, v))
		}
		return ""
	}
	var p admin.Problem
	require.NoError(d.t, json.Unmarshal(text, &p))
	if ct := res.Header.Get("Content-Type"); ct != "application/problem+json" || p.Detail == "" || p.Title == "" || p.Status != status {
		d.t.Errorf("%s %s: answered as %s with %s", method, path, ct, text)
	}
	return p.Detail
}

// dead returns the ids of the dead letters of a kind, read in pages of that length.
func (d *desk) dead(kind report.Kind, length int, more string) []string {
	d.t.Helper()
	ids := []string{}
	for next := ""; ; {
		var page admin.Page[admin.DeadLetter]
		d.call(200, "GET", fmt.Sprintf("/api/dead?kind=%s&limit=%d&after=%s%s", kind, length, next, more), "", &page)
		for _, l := range page.Items {
			ids = append(ids, string(l.ID))
		}
		if next = page.Next; next == "" {
			return ids
		}
	}
}

// refused returns the kept refusals, newest first, read in pages of that length.
func (d *desk) refused(length int, more string) []admin.Refusal {
	d.t.Helper()
	list := []admin.Refusal{}
	for next := ""; ; {
		var page admin.Page[admin.Refusal]
		d.call(200, "GET", fmt.Sprintf("/api/refused?limit=%d&before=%s%s", length, next, more), "", &page)
		list = append(list, page.Items...)
		if next = page.Next; next == "" {
			return list
		}
	}
}

// refusedCounted returns the number of refusals in the metrics.
func (d *desk) refusedCounted() float64 {
	d.t.Helper()
	families, err := d.metrics.Gather()
	require.NoError(d.t, err)
	sum := 0.0
	for _, f := range families {
		if f.GetName() == "riskdex_changes_refused_total" {
			for _, m := range f.GetMetric() {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}

// conserved checks that every accepted change is in exactly one place.
func (d *desk) conserved() {
	d.t.Helper()
	stats, err := d.journal.Stats(d.t.Context())
	require.NoError(d.t, err)
	for kind, k := range stats.Kinds {
		var accepted, settled uint64
		for _, n := range k.Accepted {
			accepted += n
		}
		for _, n := range k.Settled {
			settled += n
		}
		if accepted != settled+uint64(k.Pending) {
			d.t.Errorf("%s: %d accepted, %d settled, %d pending", kind, accepted, settled, k.Pending)
		}
	}
}
