package indexer_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/elastic"
	"riskdex/indexer"
	"riskdex/internal/elasticserver/elastictest"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// absence refuses every request until it is over, by the clock of the test.
type absence struct {
	real     http.RoundTripper
	over     time.Time
	attempts atomic.Int64
}

// enoughAttempts is far more than patience needs for an hour, and soon reached by
// an indexer that has stopped waiting.
const enoughAttempts = 20_000

func (a *absence) RoundTrip(req *http.Request) (*http.Response, error) {
	if time.Now().Before(a.over) && a.attempts.Load() < enoughAttempts {
		a.attempts.Add(1)
		if req.Body != nil {
			_, _ = io.Copy(io.Discard, req.Body)
		}
		return nil, errors.New("connection refused")
	}
	return a.real.RoundTrip(req)
}

// TestAnHourOfAbsenceIsWaitedFor has Elasticsearch away for longer than the
// backoff library waits by default, which is 15 minutes. The clock is that of
// a bubble; the server that comes back is the real one.
func TestAnHourOfAbsenceIsWaitedFor(t *testing.T) {
	url, prefix, dir := elastictest.URL(t), elastictest.Prefix(t), t.TempDir()
	var alias string
	synctest.Test(t, func(t *testing.T) {
		// A connection that is kept open would hold the bubble's clock.
		real := &http.Transport{DisableKeepAlives: true}
		away := &absence{real: real, over: time.Now().Add(time.Hour)}
		client, err := elastic.NewClientOver(away, url)
		must(t, err)
		log := slog.New(slog.DiscardHandler)
		j, err := sqlite.Open(t.Context(), filepath.Join(dir, "riskdex.db"), journal.Options{Log: log})
		must(t, err)
		set, err := mappings.Builtin()
		must(t, err)
		indices := &indices.Indices{Client: client, Prefix: prefix, Set: set, Line: j.Line(), Log: log}
		r := &rig{t: t, journal: j, indices: indices, reg: prometheus.NewRegistry(), direct: url}
		r.indexer, err = indexer.New(indexer.DefaultConfig(), j, set, indices, client, r.reg, log)
		must(t, err)
		r.run()
		r.append(many(report.Cities, 100, "text")...)

		time.Sleep(time.Until(away.over))
		if n := away.attempts.Load(); n < 100 || n >= enoughAttempts {
			t.Errorf("%d attempts in an hour: not one every few seconds", n)
		}
		if k := r.stats().Kinds[report.Cities]; k.Pending != 100 {
			t.Errorf("%d pending, want 100: nothing is given up", k.Pending)
		}
		back := time.Now()
		r.drained()
		if waited := time.Since(back); waited > time.Minute {
			t.Errorf("it took %v to notice that it was back", waited)
		}
		t.Logf("%d attempts in an hour", away.attempts.Load())
		r.stop()
		must(t, j.Close())
		alias = indices.Alias(report.Cities)
	})
	r := &rig{t: t, direct: url}
	r.change("POST", "/"+alias+"/_refresh", "")
	if _, answer := r.ask("GET", "/"+alias+"/_count", ""); answer["count"] != 100.0 {
		t.Errorf("%v documents of 100", answer["count"])
	}
}
