package admin_test

import (
	"context"
	"errors"
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
	"riskdex/internal/testkit/metricstest"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/report"
)

func get(t *testing.T, h http.Handler, path string) (int, string) {
	t.Helper()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
	body, err := io.ReadAll(rec.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return rec.Code, string(body)
}

func TestHealth(t *testing.T) {
	var cannot error
	up := true
	h := admin.New(admin.Parts{Metrics: prometheus.NewRegistry(), Health: admin.Health{
		CanAccept:       func() error { return cannot },
		ElasticsearchUp: func() bool { return up },
	}})
	for _, c := range []struct {
		cannot       error
		up           bool
		status       int
		ready, shows string
	}{
		{nil, true, 200, `"ready":true`, `"elasticsearch_up":true`},
		{nil, false, 200, `"ready":true`, `"elasticsearch_up":false`}, // deliveries wait in the journal
		{errors.New("disk full"), true, 503, `"ready":false`, `"reason":"disk full"`},
	} {
		cannot, up = c.cannot, c.up
		status, body := get(t, h, "/readyz")
		if status != c.status || !strings.Contains(body, c.ready) || !strings.Contains(body, c.shows) {
			t.Errorf("%v: /readyz is answered %d %s", c, status, body)
		}
		for _, path := range []string{"/livez", "/metrics"} {
			head := httptest.NewRecorder()
			if h.ServeHTTP(head, httptest.NewRequest(http.MethodHead, "http://127.0.0.1"+path, nil)); head.Code != 200 {
				t.Errorf("HEAD %s is answered %d", path, head.Code)
			}
		}
		if status, _ := get(t, h, "/livez"); status != 200 {
			t.Errorf("/livez is answered %d", status)
		}
	}
}

// TestSumsSurviveARestart reads the metrics of a real journal, reopens it, and reads them
// again.
func TestSumsSurviveARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "riskdex.db")
	now := time.Unix(1_800_000_000, 0)
	clock := func() time.Time { return now }
	log := slog.New(slog.DiscardHandler)
	open := func() (*sqlite.Journal, http.Handler) {
		j, err := sqlite.Open(t.Context(), path, journal.Options{Now: clock, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		reg := prometheus.NewRegistry()
		reg.MustRegister(admin.NewJournalCollector(j, nil, clock, log))
		return j, admin.New(admin.Parts{Metrics: reg})
	}
	j, h := open()
	change := func(id string, op report.Op) report.Change {
		c := report.Change{Key: report.Key{Kind: report.Cities, ID: report.ID(id)}, Op: op}
		if op == report.Index {
			c.Body = []byte(`{}`)
		}
		return c
	}
	stamps, err := j.Append(t.Context(), report.Delivery{Changes: []report.Change{
		change("settled", report.Index), change("overtaken", report.Index), change("overtaken", report.Delete), change("waits", report.Index),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Claim(t.Context(), report.Cities, 1, 1); err != nil {
		t.Fatal(err)
	}
	if err := j.Settle(t.Context(), []report.Settlement{{Key: stamps[0].Key, Version: stamps[0].Version, Outcome: report.Indexed}}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(90 * time.Second)
	want := []string{
		`riskdex_changes_accepted_total{kind="cities",op="index"} 3`,
		`riskdex_changes_accepted_total{kind="cities",op="delete"} 1`,
		`riskdex_changes_settled_total{kind="cities",outcome="indexed"} 1`,
		`riskdex_changes_settled_total{kind="cities",outcome="superseded"} 1`,
		`riskdex_changes_settled_total{kind="cities",outcome="dead"} 0`,
		`riskdex_changes_pending{kind="cities"} 2`,
		`riskdex_lag_seconds{kind="cities"} 90`,
		`riskdex_lag_seconds{kind="advisories"} 0`,
		`riskdex_dead_letters{kind="cities"} 0`,
	}
	for _, when := range []string{"at first", "after a restart"} {
		_, text := get(t, h, "/metrics")
		for _, line := range want {
			if !strings.Contains(text, line+"\n") {
				t.Errorf("%s: the metrics have no %q", when, line)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		j, h = open()
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	// A journal that cannot be read shows no sums rather than wrong ones.
	if _, text := get(t, h, "/metrics"); strings.Contains(text, "riskdex_changes_pending{") {
		t.Error("the metrics have sums of a closed journal")
	}
}

// sums is a journal with these sums.
type sums report.Stats

func (s sums) Stats(context.Context) (report.Stats, error) { return report.Stats(s), nil }

// TestJournalSeriesAreThereFromTheStart compares the series of an empty journal with those
// of one that has some of everything.
func TestJournalSeriesAreThereFromTheStart(t *testing.T) {
	full := report.Stats{Kinds: map[report.Kind]report.KindStats{}, Bytes: 1, Used: 1, Limit: 1, Free: 1, MinFree: 1, Refused: 1, Processes: []string{"a 1"}, Loss: report.Loss{Since: time.Unix(1, 0), Until: time.Unix(2, 0)}}
	for _, kind := range report.AllKinds() {
		k := report.KindStats{Accepted: map[report.Op]uint64{}, Settled: map[report.Outcome]uint64{}, Pending: 1, Resending: 1, DeadLetters: 1, RefusedDocuments: 1, Tombstones: 1, Dropped: 1, History: 1, HistoryBytes: 1, HistoryDropped: 1, OldestWaiting: time.Unix(1, 0), NewestWaiting: time.Now().Add(time.Hour)}
		for _, op := range report.Ops() {
			k.Accepted[op] = 1
		}
		for _, outcome := range report.Outcomes() {
			k.Settled[outcome] = 1
		}
		full.Kinds[kind] = k
	}
	hourly := report.Arrivals{}
	for hour := range 200 {
		hourly = hourly.After(time.Unix(int64(hour)*3600, 0))
	}
	full.Notes = map[string]string{
		report.BackupNote: report.NoteOfTime(time.Unix(1, 0)),
		report.TurnsNote:  report.Turns{At: time.Now(), Places: []string{"a/", "b/"}}.Note(),
	}
	for _, kind := range report.Kinds() {
		full.Notes[report.VerifiedNote(kind)] = report.Verified{At: time.Unix(1, 0), Wrong: 1}.Note()
		full.Notes[report.ArrivalsNote(kind)] = hourly.Note()
		full.Notes[report.RebuildFailedNote(kind)] = report.RebuildFailed{At: time.Unix(1, 0)}.Note()
	}
	scrape := func(s report.Stats) metricstest.Samples {
		reg := prometheus.NewRegistry()
		reg.MustRegister(admin.NewJournalCollector(sums(s), nil, time.Now, slog.New(slog.DiscardHandler)))
		_, text := get(t, admin.New(admin.Parts{Metrics: reg}), "/metrics")
		all, err := metricstest.Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	nothing, some := scrape(report.Stats{}), scrape(full)
	if born := some.Born(nothing); len(born) > 0 {
		t.Errorf("series that appeared later: %v", born)
	}
	for series, value := range some {
		if value == 0 {
			t.Errorf("%s is 0 although the journal has some of everything", series)
		}
	}
}

// unreadable is a journal that cannot be read while it is true.
type unreadable bool

func (u *unreadable) Stats(context.Context) (report.Stats, error) {
	if *u {
		return report.Stats{}, errors.New("the disk is gone")
	}
	return report.Stats{}, nil
}

// TestUnreadableJournalIsLoggedOnce, and not at every scrape.
func TestUnreadableJournalIsLoggedOnce(t *testing.T) {
	var log strings.Builder
	var journal unreadable
	reg := prometheus.NewRegistry()
	reg.MustRegister(admin.NewJournalCollector(&journal, nil, time.Now, slog.New(slog.NewTextHandler(&log, nil))))
	for round := range 2 {
		for _, journal = range []unreadable{true, true, false, false} {
			_, _ = reg.Gather()
		}
		if n := strings.Count(log.String(), "the disk is gone"); n != round+1 {
			t.Errorf("round %d: %d lines:\n%s", round, n, log.String())
		}
	}
}
