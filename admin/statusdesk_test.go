package admin_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/admin"
	"riskdex/internal/logsink"
	"riskdex/internal/testkit/require"
	"riskdex/report"
	"riskdex/search"
)

// statusDesk is a desk with a status page.
type statusDesk struct {
	*desk
	last    *admin.Deliveries
	history *admin.History

	mu         sync.Mutex
	now        time.Time
	down       bool  // Elasticsearch
	cannot     error // accept
	waiting    []report.Waiting
	wrong      []report.WrongAlias
	lacking    []report.Lacking
	log        logsink.State
	lost       map[report.Kind]int
	fields     map[report.Kind]report.Fields
	off        int           // of the clock
	holder     string        // the process that has locked cities
	probe      time.Duration // for how long it has not been found
	probeFails *admin.SearchFailure
	replace    time.Duration // until the certificate should be replaced
	follows    *admin.Following
	fails      time.Time // since when the search that apps make fails; zero if it does not
	rebuilt    []report.Rebuild
	missing    int           // of the documents that the index had
	ripple     time.Duration // a lag for the history to see
	sizes      *report.Stats // the sizes that the journal reports, unless nil
	found      search.Result
	score      search.Score
	slow       chan struct{} // gets an element for every search for "slow", which ends only when its context does

	searched []search.Query
	indexed  func(report.Change) admin.Indexed              // what the index has; nil if Elasticsearch does not answer
	shown    func([]report.ID) map[report.ID]report.Version // that searches find
}

func openStatusDesk(t *testing.T) *statusDesk {
	t.Helper()
	return openStatusDeskOn(t, openDesk(t))
}

func openStatusDeskOn(t *testing.T, on *desk) *statusDesk {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	d := &statusDesk{desk: on, last: new(admin.Deliveries), now: time.Now(), slow: make(chan struct{})}
	d.history = admin.NewHistory(rippled{d}, d.clock, log)
	d.expectNothing()
	d.backedUp(d.now.Add(10 * backupEvery)) // so that only one test sees an overdue backup
	d.server.Close()
	d.server = httptest.NewServer(admin.New(admin.Parts{
		DeadLetters: d.journal, Refusals: d.journal, Receiver: d.receiver, MaxBody: 10_000, Log: log, Rebuilder: d, Metrics: d.metrics, Losses: d.journal, Documents: d.journal, Histories: d.journal, Records: d.journal, Reader: d, Reads: admin.NewReadMetrics(prometheus.NewRegistry()), JournalInfo: admin.JournalInfo{Name: "x", Engine: "sqlite"},
		Health: admin.Health{
			CanAccept:       func() error { d.mu.Lock(); defer d.mu.Unlock(); return d.cannot },
			ElasticsearchUp: func() bool { d.mu.Lock(); defer d.mu.Unlock(); return !d.down },
		},
		Status: admin.StatusParts{
			BackupEvery: backupEvery, Expected: admin.Expected{"acme": 2 * time.Hour},
			Journal: sized{d}, Index: d, Deliveries: d.last, History: d.history, Now: d.clock, Started: d.now.Add(-time.Hour),
			Waiting:      func() []report.Waiting { d.mu.Lock(); defer d.mu.Unlock(); return d.waiting },
			Lacking:      func() []report.Lacking { d.mu.Lock(); defer d.mu.Unlock(); return d.lacking },
			Missing:      func() map[report.Kind]int { d.mu.Lock(); defer d.mu.Unlock(); return d.lost },
			Fields:       func() map[report.Kind]report.Fields { d.mu.Lock(); defer d.mu.Unlock(); return d.fields },
			Log:          func() logsink.State { d.mu.Lock(); defer d.mu.Unlock(); return d.log },
			WrongAliases: func() []report.WrongAlias { d.mu.Lock(); defer d.mu.Unlock(); return d.wrong },
			Probe: func() admin.Probe {
				d.mu.Lock()
				defer d.mu.Unlock()
				return admin.Probe{Index: "probe", Unsearchable: d.probe, Fails: d.probeFails, Clock: d.off}
			},
			Follows: func() *admin.Following {
				d.mu.Lock()
				defer d.mu.Unlock()
				return d.follows
			},
			Certificate: func() admin.Certificate {
				now := d.clock()
				d.mu.Lock()
				defer d.mu.Unlock()
				return admin.Certificate{Expires: now.Add(time.Hour), ReplaceBy: now.Add(d.replace), Urgent: now.Add(d.replace + 6*time.Hour)}
			},
			SearchFails: func() *admin.SearchFailure {
				d.mu.Lock()
				defer d.mu.Unlock()
				if d.fails.IsZero() {
					return nil
				}
				return &admin.SearchFailure{Since: d.fails, Index: "cities-v1", Reason: "index_closed", Detail: "index_closed_exception"}
			},
		},
	}))
	t.Cleanup(d.server.Close)
	return d
}

func (d *statusDesk) clock() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

func (d *statusDesk) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

func (d *statusDesk) note(name, value string) {
	d.t.Helper()
	require.NoError(d.t, d.journal.Note(d.t.Context(), name, value))
}

// arrived notes that something arrived each hour for a time, and the last some time ago.
func (d *statusDesk) arrived(note string, ago, span time.Duration) {
	a := report.Arrivals{}
	for at := d.clock().Add(-ago - span); !at.After(d.clock().Add(-ago)); at = at.Add(time.Hour) {
		a = a.After(at)
	}
	d.note(note, a.Note())
}

// expectNothing has nothing be overdue for a long time, so that only one test sees silence.
func (d *statusDesk) expectNothing() { d.arrived(report.SenderNote("acme"), -100*24*time.Hour, 0) }

const backupEvery = time.Hour

// backedUp records when the newest backup was made.
func (d *statusDesk) backedUp(at time.Time) { d.note(report.BackupNote, report.NoteOfTime(at)) }

// rippled is the journal with an invented lag.
type rippled struct{ *statusDesk }

func (r rippled) Stats(ctx context.Context) (report.Stats, error) {
	stats, err := r.journal.Stats(ctx)
	r.set(func() {
		for kind, k := range stats.Kinds {
			if r.ripple > 0 {
				k.OldestWaiting = r.now.Add(-r.ripple)
				stats.Kinds[kind] = k
			}
		}
	})
	return stats, err
}

// sized is the journal with invented sizes, if set.
type sized struct{ *statusDesk }

func (s sized) Stats(ctx context.Context) (report.Stats, error) {
	stats, err := s.journal.Stats(ctx)
	s.set(func() {
		if s.holder != "" {
			k := stats.Kinds[report.Cities]
			k.Holder = s.holder
			stats.Kinds[report.Cities] = k
		}
		if s.sizes != nil {
			stats.Bytes, stats.WAL, stats.Used, stats.Limit, stats.Free = s.sizes.Bytes, s.sizes.WAL, s.sizes.Used, s.sizes.Limit, s.sizes.Free
		}
	})
	return stats, err
}

// Documents and Search implement admin.Index, and the methods after them admin.Rebuilder.
func (d *statusDesk) Documents(context.Context, report.Kind) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return 1234 - d.missing, nil
}

func (d *statusDesk) Search(ctx context.Context, s search.Query) (search.Result, error) {
	d.set(func() { d.searched = append(d.searched, s) })
	switch s.Words {
	case "away":
		return search.Result{Request: d.found.Request}, errors.New("nobody <b>answers</b>")
	case "wrong":
		return search.Result{}, &search.Mistake{Says: "that <b>cannot</b> be"}
	case "slow":
		d.slow <- struct{}{}
		<-ctx.Done()
		return search.Result{}, ctx.Err()
	}
	return d.found, nil
}

func (d *statusDesk) Score(context.Context, search.Query, report.Key) (search.Score, error) {
	return d.score, nil
}

func (d *statusDesk) Threats() []string { return []string{"crime", "unrest"} }

func (d *statusDesk) Document(_ context.Context, c report.Change) (admin.Indexed, error) {
	if d.indexed == nil {
		return admin.Indexed{}, errors.New("nobody <b>answers</b>")
	}
	return d.indexed(c), nil
}

func (d *statusDesk) Shown(_ context.Context, _ report.Kind, ids []report.ID) (map[report.ID]report.Version, error) {
	if d.shown == nil {
		return nil, errors.New("nobody <b>answers</b>")
	}
	return d.shown(ids), nil
}

func (d *statusDesk) Rebuild(report.Kind) error     { return nil }
func (d *statusDesk) TakeOver(report.Kind) error    { panic("not asked for") }
func (d *statusDesk) StopRebuild(report.Kind) error { return nil }
func (d *statusDesk) Rebuilds() []report.Rebuild    { return d.rebuilt }

func (d *statusDesk) status() admin.Status {
	d.t.Helper()
	var st admin.Status
	d.call(http.StatusOK, "GET", "/api/status", "", &st)
	return st
}

// read gets a page.
func (d *statusDesk) read(status int, path string) (string, http.Header) {
	d.t.Helper()
	rec := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodGet, path, nil)
	req.Host = strings.TrimPrefix(d.server.URL, "http://")
	d.server.Config.Handler.ServeHTTP(rec, req)
	if rec.Code != status {
		d.t.Fatalf("GET %s: %d %s", path, rec.Code, rec.Body)
	}
	return rec.Body.String(), rec.Result().Header
}
