package indexer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"riskdex/indexer"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// severalRigs are indexers that share a journal and the indices, as processes do.
func severalRigs(t *testing.T, cfg indexer.Config, n int) []*rig {
	t.Helper()
	url, prefix := postgrestest.URL(t), elastictest.Prefix(t)
	rigs := make([]*rig, n)
	for i := range rigs {
		rigs[i] = assembleOf(t, cfg, indexertest.Parts{Postgres: url, Prefix: prefix})
	}
	return rigs
}

// loaded delivers to both rigs in turn until stop is called.
func loaded(t *testing.T, rigs []*rig) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	for w := range 2 {
		working.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				var changes []report.Change
				for range 10 {
					id := fmt.Sprintf("live-%d", rand.IntN(300))
					if rand.IntN(4) == 0 {
						changes = append(changes, indexertest.Delete(report.Cities, id))
					} else {
						changes = append(changes, indexertest.Index(report.Cities, id, fmt.Sprintf(`{"title":"live","n":"%d-%d"}`, w, n)))
					}
				}
				if _, err := rigs[rand.IntN(len(rigs))].Journal.Append(t.Context(), report.Delivery{Changes: changes}); err != nil {
					t.Errorf("append: %v", err)
					return
				}
			}
		})
	}
	return func() {
		cancel()
		working.Wait()
	}
}

// share waits until each of the rigs has indexed something since the call.
func share(t *testing.T, rigs []*rig) {
	t.Helper()
	before := make([]float64, len(rigs))
	for i, r := range rigs {
		before[i] = r.Metric("riskdex_bulk_documents", "kind", "cities")
	}
	for i, r := range rigs {
		r.Eventually("each process indexes", func() bool { return r.Metric("riskdex_bulk_documents", "kind", "cities") > before[i]+1 })
	}
}

// TestRebuildWhileOthersIndex: one process rebuilds the index, while the others accept
// deliveries, and continue with the new index afterwards.
func TestRebuildWhileOthersIndex(t *testing.T) {
	t.Parallel()
	rigs := severalRigs(t, rebuilding(), 3)
	a, b := rigs[0], rigs[1]
	a.Append(indexertest.Many(report.Cities, 300, "text")...)
	for _, r := range rigs {
		r.Run()
	}
	stop := loaded(t, rigs)
	share(t, rigs)

	a.rebuild()
	a.Eventually("the new index is filled", func() bool { return a.status().Phase != report.PhaseStarting })
	b.Eventually("another process knows of it", func() bool {
		err := b.Indexer.Rebuild(report.Cities)
		return errors.Is(err, report.ErrKindLocked) || a.status().Phase == report.PhaseDone
	})
	a.Eventually("it takes its place under load", func() bool { return a.status().Phase == report.PhaseDone })
	share(t, rigs)
	stop()
	a.only(2)
	a.complete()
	if n := len(b.Indexer.Rebuilds()); n > 0 && b.status().Phase != report.PhaseStopped {
		t.Errorf("the other process rebuilds too: %+v", b.status())
	}
}

// TestRebuildOfADeadProcess is taken over by another.
func TestRebuildOfADeadProcess(t *testing.T) {
	t.Parallel()
	rigs := severalRigs(t, rebuilding(), 2)
	a, b := rigs[0], rigs[1]
	a.Append(indexertest.Many(report.Cities, 200, "text")...)
	a.Run()
	a.Drained()
	b.Run()
	died := a.dieAt(func(r *rig, req *http.Request) bool {
		return req.URL.Path == "/"+r.Indices.Index(report.Cities, 2)+"/_bulk"
	}, true)
	a.rebuild()
	<-died
	b.Append(indexertest.Index(report.Cities, "1", `{"title":"live"}`), indexertest.Delete(report.Cities, "2"))
	a.Stop()
	require.NoError(t, a.Journal.Close())
	b.Eventually("another process has ended it", func() bool {
		all := b.behind()
		return len(all) == 1 && all[b.Indices.Index(report.Cities, 3)]
	})
	b.complete()
	if d := b.Document(report.Cities, "1"); d["title"] != "live" {
		t.Errorf("the document is %v, want the title live", d)
	}
	if s := b.status(); s.Cause != report.CauseInterrupted {
		t.Errorf("the rebuild is %+v, want interrupted as its cause", s)
	}
}

// TestLostIndexWhileOthersIndex: what another process has just written to the lost index
// is in the new one as well.
func TestLostIndexWhileOthersIndex(t *testing.T) {
	t.Parallel()
	rigs := severalRigs(t, indexertest.Quick(), 3)
	rigs[0].Append(indexertest.Many(report.Cities, 300, "text")...)
	for _, r := range rigs {
		r.Run()
	}
	stop := loaded(t, rigs)
	share(t, rigs)
	for range 5 {
		for name := range rigs[0].behind() {
			rigs[0].Change("DELETE", "/"+name, "")
		}
		rigs[0].Eventually("there is an index again", func() bool { return len(rigs[0].behind()) > 0 })
		share(t, rigs)
	}
	stop()
	rigs[1].complete()
}

// TestStartOfManyAtOnce makes one index of each kind.
func TestStartOfManyAtOnce(t *testing.T) {
	t.Parallel()
	rigs := severalRigs(t, indexertest.Quick(), 4)
	rigs[0].Append(indexertest.Many(report.Cities, 50, "text")...)
	rigs[3].Append(indexertest.Many(report.Advisories, 50, "text")...)
	for _, r := range rigs {
		r.Run()
	}
	for _, r := range rigs {
		r.Drained()
	}
	for _, kind := range []report.Kind{report.Cities, report.Advisories} {
		if n := rigs[2].Count(kind); n != 50 {
			t.Errorf("%d documents of %s, want 50", n, kind)
		}
	}
	if all := rigs[0].behind(); len(all) != 1 {
		t.Errorf("indices %v, want one", all)
	}
}
