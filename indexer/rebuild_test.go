package indexer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"riskdex/indexer"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/report"
)

// TestRebuildUnderLoad: writes, corrections and deletes continue, and searches never miss
// an existing document, and never find one that was deleted or corrected before.
func TestRebuildUnderLoad(t *testing.T) {
	t.Parallel()
	const stay, gone = 600, 200
	r := start(t, rebuilding())
	for i := range stay {
		r.Append(indexertest.Index(report.Cities, fmt.Sprintf("stay-%d", i), `{"title":"stays","risk_label":"stale"}`))
	}
	for i := range gone {
		r.Append(indexertest.Index(report.Cities, fmt.Sprintf("gone-%d", i), `{"title":"gone"}`))
	}
	r.Drained()
	for i := range gone {
		r.Append(indexertest.Delete(report.Cities, fmt.Sprintf("gone-%d", i)))
	}
	for i := range stay {
		r.Append(indexertest.Index(report.Cities, fmt.Sprintf("stay-%d", i), `{"title":"stays","risk_label":"corrected"}`))
	}
	r.Drained()
	r.Count(report.Cities) // refreshes

	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() { // as fast as the journal accepts it
		for n := 0; ctx.Err() == nil; n++ {
			var changes []report.Change
			for range 10 {
				id := fmt.Sprintf("live-%d", rand.IntN(500))
				if rand.IntN(4) == 0 {
					changes = append(changes, indexertest.Delete(report.Cities, id))
				} else {
					changes = append(changes, indexertest.Index(report.Cities, id, fmt.Sprintf(`{"title":"live","n":%d}`, n)))
				}
			}
			changes = append(changes, indexertest.Index(report.Cities, fmt.Sprintf("stay-%d", rand.IntN(stay)), fmt.Sprintf(`{"title":"stays","risk_label":"corrected","n":%d}`, n)))
			if _, err := r.Journal.Append(t.Context(), report.Delivery{Changes: changes}); err != nil {
				t.Errorf("append: %v", err)
				return
			}
		}
	})
	searches := 0
	working.Go(func() {
		alias := "/" + r.Indices.Alias(report.Cities) + "/_count"
		for ; ctx.Err() == nil; searches++ {
			for query, want := range map[string]float64{
				`{"match":{"title":"stays"}}`:     stay,
				`{"term":{"risk_label":"stale"}}`: 0,
				`{"match":{"title":"gone"}}`:      0,
			} {
				status, answer := r.Ask("POST", alias, `{"query":`+query+`}`)
				if status != 200 || answer["count"] != want || answer["_shards"].(map[string]any)["failed"] != 0.0 {
					t.Errorf("%s: %d %v, want %v", query, status, answer, want)
					return
				}
			}
		}
	})
	defer working.Wait()
	defer stop()

	r.rebuild()
	if r.Metric("riskdex_rebuild_active", "kind", "cities") != 1 {
		t.Error("the rebuild is not shown as active")
	}
	r.Eventually("the rebuild is done under load", func() bool { return r.status().Phase == report.PhaseDone })
	before := r.Stats().Kinds[report.Cities].Accepted[report.Index]
	r.Eventually("the load goes on", func() bool { return r.Stats().Kinds[report.Cities].Accepted[report.Index] > before+100 })
	stop()
	working.Wait()
	r.only(2)
	r.complete()
	s := r.status()
	if s.Total == 0 || s.Remaining != 0 || s.EndedAt.Before(s.StartedAt) || s.NewIndex != r.Indices.Index(report.Cities, 2) {
		t.Errorf("the rebuild is %+v, want nothing remaining and the second index", s)
	}
	if r.Metric("riskdex_rebuilds_total", "outcome", "done") != 1 || r.Metric("riskdex_rebuild_active") != 0 {
		t.Error("the rebuild is not counted as done")
	}
	k := r.Stats().Kinds[report.Cities]
	t.Logf("%d documents to send, %d changes beside them, %d searches, took %v", s.Total, k.Accepted[report.Index]+k.Accepted[report.Delete], searches, s.EndedAt.Sub(s.StartedAt))
}

// marking is a journal that waits before it marks documents, once it is told to.
type marking struct {
	indexer.Journal
	wait atomic.Pointer[chan struct{}] // until it is closed; nil does not wait
}

func (m *marking) Resend(ctx context.Context, kind report.Kind, after report.ResendCursor) (int, report.ResendCursor, error) {
	if wait := m.wait.Load(); wait != nil {
		select {
		case <-*wait:
		case <-ctx.Done():
		}
	}
	return m.Journal.Resend(ctx, kind, after)
}

// TestChangesAreShownWhileDocumentsAreMarked: with a million documents marking takes seconds.
// The new index is not complete before it has ended, although nothing is left to be sent.
func TestChangesAreShownWhileDocumentsAreMarked(t *testing.T) {
	t.Parallel()
	var j marking
	r := assembleOf(t, rebuilding(), indexertest.Parts{Journal: func(real journal.Journal) indexer.Journal {
		j.Journal = real
		return &j
	}})
	r.Run()
	r.Append(indexertest.Many(report.Cities, 100, "text")...)
	r.Drained()
	release := make(chan struct{})
	j.wait.Store(&release)
	r.rebuild()
	r.reaches(report.PhaseFilling)
	r.Append(indexertest.Index(report.Cities, "0", `{"title":"corrected"}`), indexertest.Index(report.Cities, "new", `{"title":"corrected"}`),
		indexertest.Delete(report.Cities, "1"))
	r.Drained()
	r.Eventually("searches show what was delivered meanwhile", func() bool {
		_, answer := r.Ask("POST", "/"+r.Indices.Alias(report.Cities)+"/_count", `{"query":{"match":{"title":"corrected"}}}`)
		return answer["count"] == 2.0
	})
	if s := r.status(); s.Phase != report.PhaseFilling || s.Total != 100 || s.Remaining != 100 {
		t.Errorf("the rebuild is %+v, want all 100 documents remaining until they are marked", s)
	}
	close(release)
	r.reaches(report.PhaseDone)
	r.only(2)
	r.complete()
	if n := r.Count(report.Cities); n != 100 {
		t.Errorf("%d documents, want 100", n)
	}
}

// TestChangeIsSettledOnce: a rebuild sends everything again, which must not count as the
// time that a change takes from the publisher to the index.
func TestChangeIsSettledOnce(t *testing.T) {
	t.Parallel()
	r := filledRig(t, rebuilding(), 30)
	before := r.Metric("riskdex_settle_seconds", "kind", "cities")
	r.rebuild()
	r.reaches(report.PhaseDone)
	r.Drained()
	if after := r.Metric("riskdex_settle_seconds", "kind", "cities"); before < 30 || after != before {
		t.Errorf("%v observed before the rebuild, %v after it", before, after)
	}
}

func TestRebuildOfEveryKindAtOnceAndAgain(t *testing.T) {
	t.Parallel()
	r := filledRig(t, rebuilding(), 100)
	r.Append(indexertest.Many(report.Advisories, 50, "text")...)
	for n := 2; n <= 3; n++ {
		for _, kind := range report.Kinds() {
			require.NoError(t, r.Indexer.Rebuild(kind))
		}
		r.Eventually("all are done", func() bool {
			done := 0
			for _, s := range r.Indexer.Rebuilds() {
				if s.Phase == report.PhaseDone && s.NewIndex == r.Indices.Index(s.Kind, n) {
					done++
				}
			}
			return done == 3
		})
		r.only(n)
		r.complete()
	}
	if n := r.Count(report.Advisories); n != 50 {
		t.Errorf("%d advisories, want 50", n)
	}
}

func TestStopRebuildHalfWay(t *testing.T) {
	t.Parallel()
	r := filledRig(t, rebuilding(), 200)
	g := r.half()
	s := r.status()
	if s.Remaining <= 0 || s.Remaining >= s.Total || s.SecondsLeft <= 0 {
		t.Errorf("half-way the rebuild is %+v, want some remaining and an estimate", s)
	}
	require.NoError(t, r.Indexer.StopRebuild(report.Cities))
	if s := r.status(); s.Phase != report.PhaseStopped || s.EndedAt.IsZero() {
		t.Errorf("the rebuild is %+v, want it stopped with a time of its end", s)
	}
	r.Append(indexertest.Index(report.Cities, "later", `{"title":"later"}`))
	close(g.open)
	r.only(1)
	r.complete()
	if r.Metric("riskdex_rebuilds_total", "outcome", "stopped") != 1 {
		t.Error("not counted as stopped")
	}
	r.rebuild()
	r.reaches(report.PhaseDone)
	r.only(2)
	r.complete()
}

func TestRebuildRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	r := assemble(t, rebuilding())
	wants := func(got, want error) {
		t.Helper()
		if !errors.Is(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	wants(r.Indexer.Rebuild(report.Cities), indexer.ErrNotRunning)
	r.Append(indexertest.Many(report.Cities, 100, "text")...)
	r.Run()
	r.Drained()
	wants(r.Indexer.StopRebuild(report.Cities), indexer.ErrNotRebuilding)
	g := r.half()
	wants(r.Indexer.Rebuild(report.Cities), indexer.ErrRebuilding)
	wants(r.Indexer.StopRebuild(report.Advisories), indexer.ErrNotRebuilding)
	close(g.open)
	r.reaches(report.PhaseDone)
	wants(r.Indexer.StopRebuild(report.Cities), indexer.ErrNotRebuilding)
	r.Stop()
	wants(r.Indexer.Rebuild(report.Cities), indexer.ErrNotRunning)
}

// TestRebuildKeepsDeadLettersApart: a rebuild sends no dead letter.
func TestRebuildKeepsDeadLettersApart(t *testing.T) {
	t.Parallel()
	r := assemble(t, rebuilding())
	r.Append(indexertest.Many(report.Cities, 50, "text")...)
	r.Append(indexertest.Index(report.Cities, "venom", `{"title":"venom"}`))
	bad := refuseIf(func(body []byte) bool { return strings.Contains(string(body), "venom") },
		indexertest.AnswerWith(400, `{"error":{"type":"illegal_argument_exception","reason":"no"},"status":400}`))
	r.Fail(bad)
	r.Run()
	r.Drained()
	r.rebuild()
	r.reaches(report.PhaseDone)
	r.only(2)
	r.WantCities(50, 1)
}
