package admin_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"riskdex/admin"
	"riskdex/internal/testkit/metricstest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/report"
)

// feed is an admin listener that serves the changes of a real journal.
type feed struct {
	t       *testing.T
	journal *sqlite.Journal
	url     string
	metrics *prometheus.Registry
	stop    func()
	compare func()
}

func openFeed(t *testing.T) *feed {
	t.Helper()
	f := openUncompared(t)
	f.compare()
	return f
}

// openUncompared is openFeed before the journal was compared with the indices.
func openUncompared(t *testing.T) *feed {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), journal.Options{Log: log})
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	stopping, reg := make(chan struct{}), prometheus.NewRegistry()
	compared := make(chan struct{})
	f := &feed{t: t, journal: j, metrics: reg, stop: sync.OnceFunc(func() { close(stopping) }), compare: sync.OnceFunc(func() { close(compared) })}
	server := httptest.NewServer(admin.New(admin.Parts{
		Changes: j, Compared: compared, Reads: admin.NewReadMetrics(reg), Stopping: stopping, Log: log,
	}))
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

func (f *feed) append(changes ...report.Change) {
	f.t.Helper()
	_, err := f.journal.Append(f.t.Context(), report.Delivery{Changes: changes})
	require.NoError(f.t, err)
}

// ask returns the status, and the page or the detail of the problem.
func (f *feed) ask(query string) (status int, page admin.ChangesPage, detail string) {
	f.t.Helper()
	res, err := http.Get(f.url + "/api/changes?" + query)
	require.NoError(f.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(f.t, err)
	if res.StatusCode == http.StatusOK {
		require.NoError(f.t, json.Unmarshal(text, &page))
		return res.StatusCode, page, ""
	}
	var p admin.Problem
	require.NoError(f.t, json.Unmarshal(text, &p))
	return res.StatusCode, page, p.Detail
}

func put(kind report.Kind, id, code, body string) report.Change {
	return report.Change{Key: report.Key{Kind: kind, ID: report.ID(id)}, Op: report.Index, Code: code, Body: []byte(body)}
}

func (f *feed) items(query string, want ...string) (next string) {
	f.t.Helper()
	status, page, detail := f.ask(query)
	if status != http.StatusOK || len(page.Items) != len(want) {
		f.t.Fatalf("%s: %d %s, items %s; want %d", query, status, detail, page.Items, len(want))
	}
	for i, part := range want {
		if !strings.Contains(string(page.Items[i]), part) {
			f.t.Errorf("%s: item %s, want one with %s", query, page.Items[i], part)
		}
	}
	return "after=" + url.QueryEscape(page.Next)
}

func TestChangesInTheirOrder(t *testing.T) {
	f := openFeed(t)
	f.append(put(report.Cities, "130", "LON", "{\n\"a\": 1.50}"), put(report.Advisories, "a", "", `{}`))
	f.append(report.Change{Key: report.Key{Kind: report.Advisories, ID: "a"}, Op: report.Delete})
	next := f.items("", `{"kind":"cities","id":"130","code":"LON","version":`, `"deleted":true}`)
	f.items("limit=1", `,"record":{ "a": 1.50}}`)
	f.items("kind=advisories,special-reports", `"id":"a"`)
	f.items(next)
	f.append(put(report.SpecialReports, "s", "", `{}`))
	f.items(next, `"id":"s"`)
	for query, want := range map[string]string{
		"after=5":                   "not a cursor",
		next + "x":                  "not the one that this cursor is of",
		next + "&kind=cities":       "other kinds",
		"kind=towns":                "no kind is called",
		"wait=31":                   "up to 30 seconds",
		"since=5":                   "takes no such name",
		"kind=cities&wait=tomorrow": "whole number",
	} {
		if status, _, detail := f.ask(query); status != http.StatusBadRequest && status != http.StatusGone || !strings.Contains(detail, want) {
			t.Errorf("%s: %d %s, want %s", query, status, detail, want)
		}
	}
	for name, want := range map[string]float64{"riskdex_feed_changes_total": 5, "riskdex_feed_gone_total": 1, "riskdex_feed_waiting": 0} {
		if got := f.metric(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// metric returns the sum of a metric.
func (f *feed) metric(name string) float64 {
	f.t.Helper()
	rec := httptest.NewRecorder()
	promhttp.HandlerFor(f.metrics, promhttp.HandlerOpts{}).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/", nil))
	samples, err := metricstest.Read(rec.Body)
	require.NoError(f.t, err)
	sum, _ := samples.Sum(name)
	return sum
}

// waiting waits until so many calls wait.
func (f *feed) waiting(n float64) {
	f.t.Helper()
	for f.metric("riskdex_feed_waiting") != n {
		require.NoError(f.t, f.t.Context().Err())
	}
}

// TestChangesOnceCompared: nobody knows before whether the journal has what it told. A cursor that is
// ahead of it is certain all the same.
func TestChangesOnceCompared(t *testing.T) {
	f := openUncompared(t)
	f.append(put(report.Cities, "130", "LON", "{}"))
	page, err := f.journal.Feed(t.Context(), report.Cursor{Kinds: report.Kinds()}, 10, 1000)
	require.NoError(t, err)
	ahead := page.Next
	ahead.Version += report.Version(time.Hour.Microseconds())
	if status, _, detail := f.ask("after=" + ahead.String()); status != http.StatusGone {
		t.Errorf("%d %s, want %d", status, detail, http.StatusGone)
	}
	f.stop() // nobody waits any more
	if status, _, detail := f.ask(""); status != http.StatusServiceUnavailable {
		t.Errorf("%d %s, want %d", status, detail, http.StatusServiceUnavailable)
	}
	f.compare()
	f.items("", `"id":"130"`)
}

func TestWaitingForChanges(t *testing.T) {
	f := openFeed(t)
	next := f.items("")
	result := make(chan admin.ChangesPage)
	poll := func(query string) {
		_, page, _ := f.ask(query)
		result <- page
	}
	go poll(next + "&wait=30")
	f.waiting(1)
	f.append(put(report.Cities, "1", "", `{}`))
	if page := <-result; len(page.Items) != 1 {
		t.Errorf("%d items, want the one that was waited for", len(page.Items))
	}
	f.waiting(0)

	// As many wait as may; one leaves, and then all are answered since riskdex stops.
	next = f.items(next, `"id":"1"`)
	const most = 64
	for range most - 1 {
		go poll(next + "&wait=30")
	}
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+"/api/changes?"+next+"&wait=30", nil)
	require.NoError(t, err)
	left := make(chan error)
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			_ = res.Body.Close()
		}
		left <- err
	}()
	f.waiting(most)
	if status, _, detail := f.ask(next + "&wait=1"); status != http.StatusServiceUnavailable || !strings.Contains(detail, "without wait") {
		t.Errorf("one more: %d %s", status, detail)
	}
	f.items(next) // who does not wait is answered
	leave()
	<-left
	f.waiting(most - 1)
	f.stop()
	for range most - 1 {
		if page := <-result; len(page.Items) != 0 || page.Next == "" {
			t.Errorf("%+v, want an empty page", page)
		}
	}
}
