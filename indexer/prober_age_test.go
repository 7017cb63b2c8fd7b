package indexer_test

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
	"riskdex/internal/elasticserver/elastictest"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// full takes no deliveries until a time.
type full struct {
	journal.Journal
	until time.Time
}

func (j *full) Append(ctx context.Context, d report.Delivery) ([]report.Stamp, error) {
	if time.Now().Before(j.until) {
		return nil, journal.ErrNoRoom
	}
	return j.Journal.Append(ctx, d)
}

// bubble runs a test by a clock of its own, with the journal at path and the real
// Elasticsearch, which is away until that time of the clock.
func bubble(t *testing.T, path, url, prefix string, away time.Duration, test func(*testing.T, *rig)) {
	synctest.Test(t, func(t *testing.T) {
		// A connection that is kept open would hold the bubble's clock.
		transport := &absence{real: &http.Transport{DisableKeepAlives: true}, over: time.Now().Add(away)}
		client, err := elastic.NewClientOver(transport, url)
		must(t, err)
		log := slog.New(slog.DiscardHandler)
		j, err := sqlite.Open(t.Context(), path, journal.Options{Log: log})
		must(t, err)
		set, err := mappings.Builtin()
		must(t, err)
		r := &rig{t: t, journal: j, indices: &indices.Indices{Client: client, Prefix: prefix, Set: set, Line: j.Line(), Log: log}, reg: prometheus.NewRegistry(), direct: url}
		cfg := indexer.DefaultConfig()
		cfg.Probe = true
		r.indexer, err = indexer.New(cfg, j, set, r.indices, client, r.reg, log)
		must(t, err)
		r.run()
		test(t, r)
		r.stop()
		must(t, j.Close())
	})
}

// about tells whether a measured time is the one that passed on the clock.
func (p *probing) about(want time.Duration) {
	p.t.Helper()
	if got := p.unsearchable(); got < want || got > want+30*time.Second {
		p.t.Errorf("the probe is said to be unsearchable for %v, and is for %v", got, want)
	}
}

// TestAgeOfTheProbe: it grows from the first try on while the journal has no room
// and while Elasticsearch is away, goes on through a restart, and ends with a find.
func TestAgeOfTheProbe(t *testing.T) {
	url, prefix, path := elastictest.URL(t), elastictest.Prefix(t), filepath.Join(t.TempDir(), "riskdex.db")
	var began time.Time
	bubble(t, path, url, prefix, time.Hour, func(t *testing.T, r *rig) {
		began = time.Now()
		p := r.probeInto(probe.DefaultConfig(), &full{r.journal, began.Add(4 * time.Minute)})
		synctest.Wait()
		time.Sleep(4*time.Minute - time.Second)
		p.about(4*time.Minute - time.Second)
		if n := r.probeStats().Accepted[report.Index]; n != 0 {
			t.Fatalf("%d accepted without room", n)
		}
		time.Sleep(6 * time.Minute)
		p.about(10*time.Minute - time.Second)
		k := r.probeStats()
		if k.Pending != 1 || k.Accepted[report.Index] < 4 || k.Accepted[report.Index] > 8 {
			t.Errorf("after ten minutes: %+v; want it written about once a minute, and one version pending", k)
		}
		p.stop()
	})
	// A bubble's clock begins anew: time has passed as far as the test has it pass.
	bubble(t, path, url, prefix, 20*time.Minute, func(t *testing.T, r *rig) {
		time.Sleep(11 * time.Minute)
		p := r.probe(probe.DefaultConfig())
		time.Sleep(time.Minute)
		since := r.probeStats().OldestWaiting
		if since.IsZero() || since.After(began.Add(5*time.Minute)) {
			t.Errorf("the journal says that it has waited since %v", since)
		}
		p.about(time.Since(since))
		time.Sleep(10 * time.Minute)
		p.eventually("it is found", func() bool {
			// Elasticsearch refreshes by another clock than the bubble's.
			_, _ = r.indices.Refresh(t.Context(), r.indices.Alias(report.Probe))
			return p.found() > 0
		})
		p.eventually("the age is 0 between two probes", func() bool { return p.unsearchable() == 0 })
		r.drained(report.AllKinds()...)
		p.stop()
	})
}

// TestAgeOfTheProbeFromTheStart: also where nothing is known of an earlier one, it
// counts until the first find.
func TestAgeOfTheProbeFromTheStart(t *testing.T) {
	bubble(t, filepath.Join(t.TempDir(), "riskdex.db"), elastictest.URL(t), elastictest.Prefix(t), time.Hour, func(t *testing.T, r *rig) {
		p := r.probeInto(probe.DefaultConfig(), &full{r.journal, time.Now().Add(24 * time.Hour)})
		time.Sleep(5 * time.Minute)
		p.about(5 * time.Minute)
		p.stop()
	})
}
