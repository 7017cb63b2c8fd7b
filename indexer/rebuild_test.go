package indexer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"riskdex/indexer"
	"riskdex/report"
)

// TestRebuildUnderLoad: writes, corrections and deletes go on all the while, and
// whoever searches never misses a document that is there, and never sees one that
// was deleted or corrected before.
func TestRebuildUnderLoad(t *testing.T) {
	const stay, gone = 600, 200
	r := start(t, rebuilding())
	for i := range stay {
		r.append(index(report.Cities, fmt.Sprintf("stay-%d", i), `{"title":"stays","risk_label":"stale"}`))
	}
	for i := range gone {
		r.append(index(report.Cities, fmt.Sprintf("gone-%d", i), `{"title":"gone"}`))
	}
	r.drained()
	for i := range gone {
		r.append(remove(report.Cities, fmt.Sprintf("gone-%d", i)))
	}
	for i := range stay {
		r.append(index(report.Cities, fmt.Sprintf("stay-%d", i), `{"title":"stays","risk_label":"corrected"}`))
	}
	r.drained()
	r.count(report.Cities) // refreshes

	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() { // as fast as the journal takes it
		for n := 0; ctx.Err() == nil; n++ {
			var changes []report.Change
			for range 10 {
				id := fmt.Sprintf("live-%d", rand.IntN(500))
				if rand.IntN(4) == 0 {
					changes = append(changes, remove(report.Cities, id))
				} else {
					changes = append(changes, index(report.Cities, id, fmt.Sprintf(`{"title":"live","n":%d}`, n)))
				}
			}
			changes = append(changes, index(report.Cities, fmt.Sprintf("stay-%d", rand.IntN(stay)), fmt.Sprintf(`{"title":"stays","risk_label":"corrected","n":%d}`, n)))
			if _, err := r.journal.Append(t.Context(), report.Delivery{Changes: changes}); err != nil {
				t.Errorf("append: %v", err)
				return
			}
		}
	})
	searches := 0
	working.Go(func() {
		alias := "/" + r.indices.Alias(report.Cities) + "/_count"
		for ; ctx.Err() == nil; searches++ {
			for query, want := range map[string]float64{
				`{"match":{"title":"stays"}}`:     stay,
				`{"term":{"risk_label":"stale"}}`: 0,
				`{"match":{"title":"gone"}}`:      0,
			} {
				status, answer := r.ask("POST", alias, `{"query":`+query+`}`)
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
	if r.metric("riskdex_rebuild_active", "kind", "cities") != 1 {
		t.Error("the rebuild is not shown as active")
	}
	r.eventually("the rebuild is done under load", func() bool { return r.status().Phase == report.PhaseDone })
	before := r.stats().Kinds[report.Cities].Accepted[report.Index]
	r.eventually("the load goes on", func() bool { return r.stats().Kinds[report.Cities].Accepted[report.Index] > before+100 })
	stop()
	working.Wait()
	r.only(2)
	r.complete()
	s := r.status()
	if s.Total == 0 || s.Remaining != 0 || s.EndedAt.Before(s.StartedAt) || s.NewIndex != r.indices.Index(report.Cities, 2) {
		t.Errorf("%+v", s)
	}
	if r.metric("riskdex_rebuilds_total", "outcome", "done") != 1 || r.metric("riskdex_rebuild_active") != 0 {
		t.Error("the rebuild is not counted as done")
	}
	k := r.stats().Kinds[report.Cities]
	t.Logf("%d documents to send, %d changes beside them, %d searches, took %v", s.Total, k.Accepted[report.Index]+k.Accepted[report.Delete], searches, s.EndedAt.Sub(s.StartedAt))
}

// TestChangeIsSettledOnce: a rebuild sends everything again, and what that takes says
// nothing of how long a change takes from the publisher to the index.
func TestChangeIsSettledOnce(t *testing.T) {
	r := filledRig(t, rebuilding(), 30)
	before := r.metric("riskdex_settle_seconds", "kind", "cities")
	r.rebuild()
	r.reaches(report.PhaseDone)
	r.drained()
	if after := r.metric("riskdex_settle_seconds", "kind", "cities"); before < 30 || after != before {
		t.Errorf("%v observed before the rebuild, %v after it", before, after)
	}
}

func TestRebuildOfEveryKindAtOnceAndAgain(t *testing.T) {
	r := filledRig(t, rebuilding(), 100)
	r.append(many(report.Advisories, 50, "text")...)
	for n := 2; n <= 3; n++ {
		for _, kind := range report.Kinds() {
			must(t, r.indexer.Rebuild(kind))
		}
		r.eventually("all are done", func() bool {
			done := 0
			for _, s := range r.indexer.Rebuilds() {
				if s.Phase == report.PhaseDone && s.NewIndex == r.indices.Index(s.Kind, n) {
					done++
				}
			}
			return done == 3
		})
		r.only(n)
		r.complete()
	}
	if n := r.count(report.Advisories); n != 50 {
		t.Errorf("%d advisories, want 50", n)
	}
}

func TestStopRebuildHalfWay(t *testing.T) {
	r := filledRig(t, rebuilding(), 200)
	g := r.half()
	s := r.status()
	if s.Remaining <= 0 || s.Remaining >= s.Total || s.SecondsLeft <= 0 {
		t.Errorf("half-way: %+v", s)
	}
	must(t, r.indexer.StopRebuild(report.Cities))
	if s := r.status(); s.Phase != report.PhaseStopped || s.EndedAt.IsZero() {
		t.Errorf("stopped: %+v", s)
	}
	r.append(index(report.Cities, "later", `{"title":"later"}`))
	close(g.open)
	r.only(1)
	r.complete()
	if r.metric("riskdex_rebuilds_total", "outcome", "stopped") != 1 {
		t.Error("not counted as stopped")
	}
	r.rebuild()
	r.reaches(report.PhaseDone)
	r.only(2)
	r.complete()
}

func TestRebuildRefusesWhatItCannotDo(t *testing.T) {
	r := assemble(t, rebuilding())
	wants := func(got, want error) {
		t.Helper()
		if !errors.Is(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	wants(r.indexer.Rebuild(report.Cities), indexer.ErrNotRunning)
	r.append(many(report.Cities, 100, "text")...)
	r.run()
	r.drained()
	wants(r.indexer.StopRebuild(report.Cities), indexer.ErrNotRebuilding)
	g := r.half()
	wants(r.indexer.Rebuild(report.Cities), indexer.ErrRebuilding)
	wants(r.indexer.StopRebuild(report.Advisories), indexer.ErrNotRebuilding)
	close(g.open)
	r.reaches(report.PhaseDone)
	wants(r.indexer.StopRebuild(report.Cities), indexer.ErrNotRebuilding)
	r.stop()
	wants(r.indexer.Rebuild(report.Cities), indexer.ErrNotRunning)
}

// TestRebuildKeepsDeadLettersApart: a rebuild sends no dead letter.
func TestRebuildKeepsDeadLettersApart(t *testing.T) {
	r := assemble(t, rebuilding())
	r.append(many(report.Cities, 50, "text")...)
	r.append(index(report.Cities, "venom", `{"title":"venom"}`))
	bad := refuseIf(func(body []byte) bool { return strings.Contains(string(body), "venom") },
		answerWith(400, `{"error":{"type":"illegal_argument_exception","reason":"no"},"status":400}`))
	r.fail(bad)
	r.run()
	r.drained()
	r.rebuild()
	r.reaches(report.PhaseDone)
	r.only(2)
	r.cities(50, 1)
}
