package probe_test

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/elastic"
	"riskdex/indexer"
	"riskdex/indexer/probe"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// full accepts no deliveries until a time.
type full struct {
	journal.Journal
	until time.Time
}

func (j *full) Append(ctx context.Context, d report.Delivery) ([]report.Stamp, error) {
	if time.Now().Before(j.until) {
		return nil, report.ErrNoRoom
	}
	return j.Journal.Append(ctx, d)
}

// bubble runs a test in a synctest bubble with a clock of its own, with the journal at
// path and the real Elasticsearch, which is away until that time of the clock.
func bubble(t *testing.T, path, url, prefix string, away time.Duration, test func(*testing.T, *indexertest.Rig)) {
	synctest.Test(t, func(t *testing.T) {
		// A connection that is kept open would block the bubble's clock.
		transport := &indexertest.Absence{Real: &http.Transport{DisableKeepAlives: true}, Over: time.Now().Add(away)}
		client, err := elastic.NewClientOver(transport, url)
		require.NoError(t, err)
		log := slog.New(slog.DiscardHandler)
		j, err := sqlite.Open(t.Context(), path, journal.Options{Log: log})
		require.NoError(t, err)
		set, err := mappings.Builtin()
		require.NoError(t, err)
		r := &indexertest.Rig{T: t, Journal: j, Indices: &indices.Indices{Client: client, Prefix: prefix, Set: set, Lineage: j.Lineage(), Log: log}, Registry: prometheus.NewRegistry(), Direct: url}
		cfg := indexer.DefaultConfig()
		cfg.Probe = true
		r.Indexer, err = indexer.New(cfg, j, set, r.Indices, client, r.Registry, log)
		require.NoError(t, err)
		r.Run()
		test(t, r)
		r.Stop()
		require.NoError(t, j.Close())
	})
}

// about reports whether a measured time is the one that passed on the clock.
func about(p *indexertest.Probing, want time.Duration) {
	p.T.Helper()
	if got := p.Unsearchable(); got < want || got > want+30*time.Second {
		p.T.Errorf("the probe is reported as unsearchable for %v, want %v", got, want)
	}
}

// TestAgeOfTheProbe: the age grows from the first attempt on while the journal is full
// and while Elasticsearch is away, continues through a restart, and ends when the probe
// is found.
func TestAgeOfTheProbe(t *testing.T) {
	url, prefix, path := elastictest.URL(t), elastictest.Prefix(t), filepath.Join(t.TempDir(), "riskdex.db")
	var began time.Time
	bubble(t, path, url, prefix, time.Hour, func(t *testing.T, r *indexertest.Rig) {
		began = time.Now()
		p := r.ProbeInto(probe.DefaultConfig(), &full{r.Journal, began.Add(4 * time.Minute)})
		synctest.Wait()
		time.Sleep(4*time.Minute - time.Second)
		about(p, 4*time.Minute-time.Second)
		if n := r.ProbeStats().Accepted[report.Index]; n != 0 {
			t.Fatalf("%d accepted while the journal is full", n)
		}
		time.Sleep(6 * time.Minute)
		about(p, 10*time.Minute-time.Second)
		k := r.ProbeStats()
		if k.Pending != 1 || k.Accepted[report.Index] < 4 || k.Accepted[report.Index] > 8 {
			t.Errorf("after ten minutes: %+v; want it written about once a minute, and one version pending", k)
		}
		p.Stop()
	})
	// A bubble's clock begins anew, so the test advances it by the time that has passed.
	bubble(t, path, url, prefix, 20*time.Minute, func(t *testing.T, r *indexertest.Rig) {
		time.Sleep(11 * time.Minute)
		p := r.Probe(probe.DefaultConfig())
		time.Sleep(time.Minute)
		since := r.ProbeStats().OldestWaiting
		if since.IsZero() || since.After(began.Add(5*time.Minute)) {
			t.Errorf("the journal says that it has waited since %v", since)
		}
		about(p, time.Since(since))
		time.Sleep(10 * time.Minute)
		p.Eventually("it is found", func() bool {
			// Elasticsearch refreshes by the real clock.
			_, _ = r.Indices.Refresh(t.Context(), r.Indices.Alias(report.Probe))
			return p.Found() > 0
		})
		p.Eventually("the age is 0 between two probes", func() bool { return p.Unsearchable() == 0 })
		r.Drained(report.AllKinds()...)
		p.Stop()
	})
}

// TestAgeOfTheProbeFromTheStart: without an earlier probe, the age counts from the start
// until the first probe is found.
func TestAgeOfTheProbeFromTheStart(t *testing.T) {
	bubble(t, filepath.Join(t.TempDir(), "riskdex.db"), elastictest.URL(t), elastictest.Prefix(t), time.Hour, func(t *testing.T, r *indexertest.Rig) {
		p := r.ProbeInto(probe.DefaultConfig(), &full{r.Journal, time.Now().Add(24 * time.Hour)})
		time.Sleep(5 * time.Minute)
		about(p, 5*time.Minute)
		p.Stop()
	})
}
