package indexer_test

import (
	"log/slog"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/elastic"
	"riskdex/indexer"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// TestAnHourOfAbsenceIsWaitedFor keeps Elasticsearch down for longer than the 15 minutes
// after which the backoff library gives up by default. The clock is that of a synctest
// bubble; the server that comes back is the real one.
func TestAnHourOfAbsenceIsWaitedFor(t *testing.T) {
	url, prefix, dir := elastictest.URL(t), elastictest.Prefix(t), t.TempDir()
	var alias string
	synctest.Test(t, func(t *testing.T) {
		// A connection that is kept open would block the bubble's clock.
		real := &http.Transport{DisableKeepAlives: true}
		away := &indexertest.Absence{Real: real, Over: time.Now().Add(time.Hour)}
		client, err := elastic.NewClientOver(away, url)
		require.NoError(t, err)
		log := slog.New(slog.DiscardHandler)
		j, err := sqlite.Open(t.Context(), filepath.Join(dir, "riskdex.db"), journal.Options{Log: log})
		require.NoError(t, err)
		set, err := mappings.Builtin()
		require.NoError(t, err)
		indices := &indices.Indices{Client: client, Prefix: prefix, Set: set, Lineage: j.Lineage(), Log: log}
		r := &indexertest.Rig{T: t, Journal: j, Indices: indices, Registry: prometheus.NewRegistry(), Direct: url}
		r.Indexer, err = indexer.New(indexer.DefaultConfig(), j, set, indices, client, r.Registry, log)
		require.NoError(t, err)
		r.Run()
		r.Append(indexertest.Many(report.Cities, 100, "text")...)

		time.Sleep(time.Until(away.Over))
		if n := away.Attempts.Load(); n < 100 || n >= indexertest.EnoughAttempts {
			t.Errorf("%d attempts in an hour: not one every few seconds", n)
		}
		if k := r.Stats().Kinds[report.Cities]; k.Pending != 100 {
			t.Errorf("%d pending, want 100: nothing is given up", k.Pending)
		}
		back := time.Now()
		r.Drained()
		if waited := time.Since(back); waited > time.Minute {
			t.Errorf("it took %v to notice that it was back", waited)
		}
		t.Logf("%d attempts in an hour", away.Attempts.Load())
		r.Stop()
		require.NoError(t, j.Close())
		alias = indices.Alias(report.Cities)
	})
	r := &indexertest.Rig{T: t, Direct: url}
	r.Change("POST", "/"+alias+"/_refresh", "")
	if _, answer := r.Ask("GET", "/"+alias+"/_count", ""); answer["count"] != 100.0 {
		t.Errorf("%v documents of 100", answer["count"])
	}
}
