package indexer_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/indexer"
	"riskdex/indexer/verify"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// waitsFor returns why an index waits, or "".
func (r *rig) waitsFor(kind report.Kind) string {
	for _, w := range r.Indexer.Waiting() {
		if w.Kind == kind {
			return w.Reason
		}
	}
	return ""
}

// beside returns a rig with its own journal on the indices of r.
func (r *rig) beside(cfg indexer.Config) *rig {
	r.T.Helper()
	return assembleOf(r.T, cfg, indexertest.Parts{Prefix: r.Indices.Prefix})
}

// changes counts the requests from now on that do more than read.
func (r *rig) changes() *atomic.Int64 {
	var n atomic.Int64
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.Method != http.MethodGet {
			n.Add(1)
		}
		next.ServeHTTP(w, req)
	})
	return &n
}

// TestIndexOfAnotherJournalIsLeftAlone: accepted changes wait, and no request changes
// anything. On command this journal takes over, and the other one leaves the index alone.
func TestIndexOfAnotherJournalIsLeftAlone(t *testing.T) {
	t.Parallel()
	a := filledRig(t, rebuilding(), 30)
	b := a.beside(rebuilding())
	changed := b.changes()
	b.Append(indexertest.Many(report.Cities, 20, "of b")...)
	b.Append(indexertest.Index(report.Advisories, "1", `{"title":"of b"}`))
	b.Run()
	for _, kind := range report.Kinds() {
		b.Eventually("the index is held", func() bool { return b.waitsFor(kind) == "another_journal" })
	}
	if err := b.Indexer.Rebuild(report.Cities); !errors.Is(err, report.ErrAnotherJournal) || !strings.Contains(err.Error(), a.Indices.Index(report.Cities, 1)) {
		t.Errorf("a rebuild was answered %v, want an error that names the other journal's index", err)
	}
	_, err := b.Verifier(indexertest.QuickVerify()).Verify(t.Context(), report.Cities, verify.Options{Repair: true, RemoveForeign: true})
	if e, ok := errors.AsType[*verify.Error](err); !ok || e.Reason != "another_journal" || !strings.Contains(err.Error(), "--take-over") {
		t.Errorf("a repair was answered %v, want an error that advises --take-over", err)
	}
	a.Append(indexertest.Index(report.Cities, "100", `{"title":"of a"}`))
	a.Drained()
	if n := changed.Load(); n > 0 {
		t.Errorf("%d requests changed something, want none", n)
	}
	if k := b.Stats().Kinds[report.Cities]; k.Pending != 20 {
		t.Errorf("%d changes pending, want 20", k.Pending)
	}
	held := b.Metric("riskdex_held", "index", b.Indices.Alias(report.Cities), "reason", "another_journal")
	if held != 1 {
		t.Errorf("riskdex_held is %v, want 1", held)
	}
	b.Heal()

	require.NoError(t, b.Indexer.TakeOver(report.Cities))
	b.reaches(report.PhaseDone)
	a.Eventually("the previous owner leaves it alone", func() bool { return a.waitsFor(report.Cities) == "another_journal" })
	a.Append(indexertest.Index(report.Cities, "101", `{"title":"of a"}`))
	b.Append(indexertest.Index(report.Cities, "102", `{"title":"of b"}`))
	b.Drained(report.Cities)
	b.SameAsJournal()
	b.only(2)
	if k := a.Stats().Kinds[report.Cities]; k.Pending != 1 {
		t.Errorf("the previous owner has %d changes pending, want 1", k.Pending)
	}
	if b.waitsFor(report.Advisories) == "" || a.waitsFor(report.Advisories) != "" {
		t.Error("advisories were taken over without a command")
	}
}

// TestTakeOverUnderLoad: the previous owner is busy, but notices before the new index
// replaces the old one, so nothing of it gets into the new index.
func TestTakeOverUnderLoad(t *testing.T) {
	t.Parallel()
	a := filledRig(t, rebuilding(), 30)
	b := a.beside(rebuilding())
	b.Append(indexertest.Many(report.Cities, 60, "of b")...)
	b.Run()
	b.Eventually("the index is held", func() bool { return b.waitsFor(report.Cities) == "another_journal" })
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			a.Append(indexertest.Index(report.Cities, "a"+string(rune('a'+i%26)), `{"title":"of a"}`))
		}
	}()
	end := sync.OnceFunc(func() { close(stop); <-stopped })
	defer end()
	require.NoError(t, b.Indexer.TakeOver(report.Cities))
	b.reaches(report.PhaseDone)
	end()
	a.Eventually("the previous owner leaves it alone", func() bool { return a.waitsFor(report.Cities) == "another_journal" })
	b.Drained(report.Cities)
	b.SameAsJournal()
}

// TestRebuildEndsWhereAnotherJournalTakesOver, and touches nothing that it would have
// deleted or moved.
func TestRebuildEndsWhereAnotherJournalTakesOver(t *testing.T) {
	t.Parallel()
	a := filledRig(t, rebuilding(), 100)
	g := a.half()
	open := sync.OnceFunc(func() { close(g.open) })
	defer open()
	b := a.beside(rebuilding())
	b.Append(indexertest.Many(report.Cities, 100, "of b")...)
	b.Run()
	b.Eventually("the index is held", func() bool { return b.waitsFor(report.Cities) == "another_journal" })
	require.NoError(t, b.Indexer.TakeOver(report.Cities))
	b.reaches(report.PhaseDone)
	open()
	a.Eventually("the rebuild has ended", func() bool { return !a.status().Phase.Active() })
	a.Eventually("the previous owner leaves it alone", func() bool { return a.waitsFor(report.Cities) == "another_journal" })
	b.Drained(report.Cities)
	b.SameAsJournal()
}

// TestNoStepWhereAnotherJournalHasTakenOver: a rebuild that begins before the next check
// does not delete the index that the other journal is filling.
func TestNoStepWhereAnotherJournalHasTakenOver(t *testing.T) {
	t.Parallel()
	rarely := rebuilding()
	rarely.CheckEvery = time.Hour
	a := filledRig(t, rarely, 100)
	b := a.beside(rebuilding())
	b.Append(indexertest.Many(report.Cities, 100, "of b")...)
	g := b.gate(2)
	open := sync.OnceFunc(func() { close(g.open) })
	defer open()
	b.Run()
	b.Eventually("the index is held", func() bool { return b.waitsFor(report.Cities) == "another_journal" })
	require.NoError(t, b.Indexer.TakeOver(report.Cities))
	<-g.reached
	if a.waitsFor(report.Cities) != "" {
		t.Fatal("the previous owner has already checked its index, so this test shows nothing")
	}
	a.rebuild()
	a.Eventually("the rebuild has ended", func() bool { s := a.status(); return !s.StartedAt.IsZero() && !s.Phase.Active() })
	open()
	b.reaches(report.PhaseDone)
	b.SameAsJournal()
	b.only(2)
	if s := a.status(); !strings.Contains(s.Reason, "another journal") || s.NewIndex != "" {
		t.Errorf("the previous owner's rebuild is %+v, want one that ended because of another journal", s)
	}
}

// othersRig returns an index of cities with 30 documents that the journal of a fills, and
// b beside it, which has as many documents of its own and has found that the index is
// a's.
func othersRig(t *testing.T) (a, b *rig) {
	t.Helper()
	a = filledRig(t, rebuilding(), 30)
	b = a.beside(rebuilding())
	b.Append(indexertest.Many(report.Cities, 30, "of b")...)
	b.Run()
	b.Eventually("the index is held", func() bool { return b.waitsFor(report.Cities) == "another_journal" })
	for _, kind := range report.Kinds() { // a kind without an index follows the decision for cities, so b asks about that one
		a.Eventually("every kind has its index", func() bool { status, _ := a.Ask("GET", "/"+a.Indices.Alias(kind), ""); return status == http.StatusOK })
	}
	return a, b
}

// hasAll waits until r has the index of cities, with only its own documents, and other
// leaves it alone.
func (r *rig) hasAll(other *rig) {
	r.T.Helper()
	r.Eventually("the index is its own, and there is no other", func() bool {
		all := r.behind()
		return len(all) == 1 && slices.Contains(slices.Collect(maps.Values(all)), true) && r.waitsFor(report.Cities) == ""
	})
	r.Append(indexertest.Index(report.Cities, "200", `{"title":"goes on"}`))
	r.Drained(report.Cities)
	r.SameAsJournal()
	other.Eventually("the other one leaves it alone", func() bool { return other.waitsFor(report.Cities) == "another_journal" })
	require.NoError(r.T, r.Indices.CheckLineage(r.T.Context(), report.Cities))
}

// requestsOfATakeOver lists the requests of a take-over, in order.
func requestsOfATakeOver(r *rig) map[string]func(req *http.Request) bool {
	is := func(method, path string) func(req *http.Request) bool {
		return func(req *http.Request) bool { return req.Method == method && req.URL.Path == path }
	}
	old, now := "/"+r.Indices.Index(report.Cities, 1), "/"+r.Indices.Index(report.Cities, 2)
	return map[string]func(req *http.Request) bool{
		"checking": func(req *http.Request) bool {
			return req.Method == "GET" && strings.HasPrefix(req.URL.Path, "/"+r.Indices.Alias(report.Cities)+"-v")
		},
		"counting":               is("POST", old+"/_refresh"),
		"making the new index":   is("PUT", now),
		"marking it":             is("PUT", now+"/_mapping"),
		"filling it":             is("POST", now+"/_bulk"),
		"refreshing it":          is("POST", now+"/_refresh"),
		"moving the alias":       is("POST", "/_aliases"),
		"deleting the old index": is("DELETE", old),
	}
}

// TestTakeOverThatIsStopped: nothing is taken over, even if a request is on its way to
// Elasticsearch when the take-over is stopped, and arrives only then.
func TestTakeOverThatIsStopped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		nth  int64 // among these requests
	}{{"checking", 1}, {"checking", 2}, {"checking", 3}, {"counting", 1}, {"making the new index", 1}, {"marking it", 1}, {"filling it", 1}} {
		t.Run(c.name, func(t *testing.T) {
			a, b := othersRig(t)
			requests := requestsOfATakeOver(b)
			var told, held, checks atomic.Int64
			reached, opened := make(chan struct{}), make(chan struct{})
			open := sync.OnceFunc(func() { close(opened) })
			defer open()
			b.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
				switch {
				case told.Load() > 0 && requests[c.name](req) && held.Add(1) == c.nth:
					close(reached)
					<-opened
					next.ServeHTTP(w, req)
					checks.Store(0)
					return
				case requests["checking"](req):
					checks.Add(1)
				}
				next.ServeHTTP(w, req)
			})
			b.Eventually("an index check has ended, and another begins", func() bool { return checks.Load() > 0 })
			told.Store(1)
			require.NoError(t, b.Indexer.TakeOver(report.Cities))
			<-reached
			require.NoError(t, b.Indexer.StopRebuild(report.Cities))
			checks.Store(-1000) // not before it has arrived
			open()
			b.Eventually("the request has arrived, and the index was checked twice since", func() bool { return checks.Load() >= 10 })
			a.hasAll(b)
			if s := b.status(); s.Phase != report.PhaseStopped {
				t.Errorf("the take-over is %+v, want it stopped", s)
			}
			if k := b.Stats().Kinds[report.Cities]; k.Pending+k.Resending != 30 {
				t.Errorf("%d changes are pending and %d are to be sent again, want 30 together", k.Pending, k.Resending)
			}
			require.NoError(t, b.Indexer.TakeOver(report.Cities))
			b.reaches(report.PhaseDone)
			b.hasAll(a)
		})
	}
}

// TestTakeOverThatIsInterrupted at any of its requests, before or after Elasticsearch has
// carried it out: once the process runs again, the index either belongs to its journal
// and has nothing of the other one, or belongs to the other one unchanged.
func TestTakeOverThatIsInterrupted(t *testing.T) {
	t.Parallel()
	for name := range requestsOfATakeOver(assemble(t, rebuilding())) {
		for _, done := range []bool{false, true} {
			when := "before "
			if done {
				when = "after "
			}
			t.Run(when+name, func(t *testing.T) {
				a, b := othersRig(t)
				at := requestsOfATakeOver(b)[name]
				died := b.dieAt(func(_ *rig, req *http.Request) bool { return at(req) }, done)
				require.NoError(t, b.Indexer.TakeOver(report.Cities))
				<-died
				b.Stop()
				b.Heal()
				if taken := name == "deleting the old index" || name == "moving the alias" && done; taken {
					b.restart(rebuilding(), nil, nil)
					b.hasAll(a)
					return
				}
				a.Append(indexertest.Index(report.Cities, "100", `{"title":"of a"}`))
				b.restart(rebuilding(), nil, nil)
				a.hasAll(b)
				require.NoError(t, b.Indexer.TakeOver(report.Cities))
				b.reaches(report.PhaseDone)
				b.hasAll(a)
			})
		}
	}
}

// TestTakeOverThatNobodyFinishes is undone when the owner of the index takes over.
func TestTakeOverThatNobodyFinishes(t *testing.T) {
	t.Parallel()
	a, b := othersRig(t)
	died := b.dieAt(func(_ *rig, req *http.Request) bool { return requestsOfATakeOver(b)["filling it"](req) }, true)
	require.NoError(t, b.Indexer.TakeOver(report.Cities))
	<-died
	b.Stop()
	b.Heal()
	a.Eventually("it waits for the end of the take-over", func() bool { return a.waitsFor(report.Cities) == "another_journal" })
	if err := a.Indexer.Rebuild(report.Cities); !errors.Is(err, report.ErrAnotherJournal) || !strings.Contains(err.Error(), b.Indices.Index(report.Cities, 2)) {
		t.Errorf("a rebuild was answered %v, want an error that names the other journal's index", err)
	}
	a.Append(indexertest.Index(report.Cities, "100", `{"title":"of a"}`))
	require.NoError(t, a.Indexer.TakeOver(report.Cities))
	a.reaches(report.PhaseDone)
	b.restart(rebuilding(), nil, nil)
	a.hasAll(b)
}

// TestTakeOverIsTakenBack by the owner of the index while it is under way. Because apps
// search the owner's index, they see what is delivered meanwhile, and the owner's
// take-over may be stopped.
func TestTakeOverIsTakenBack(t *testing.T) {
	t.Parallel()
	a, b := othersRig(t)
	g := b.gate(0)
	open := sync.OnceFunc(func() { close(g.open) })
	defer open()
	require.NoError(t, b.Indexer.TakeOver(report.Cities))
	<-g.reached
	a.Eventually("it waits for the end of the take-over", func() bool { return a.waitsFor(report.Cities) == "another_journal" })
	third := "/" + a.Indices.Index(report.Cities, 3) + "/_bulk"
	full := indexertest.AnswerWith(429, `{"error":{"type":"es_rejected_execution_exception","reason":"full"},"status":429}`)
	a.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.URL.Path == third {
			full(w, req, next)
			return
		}
		next.ServeHTTP(w, req)
	})
	require.NoError(t, a.Indexer.TakeOver(report.Cities))
	a.reaches(report.PhaseFilling)
	a.Append(indexertest.Index(report.Cities, "live", `{"title":"live"}`))
	a.Eventually("apps see a live change", func() bool { return a.Document(report.Cities, "live") != nil })
	a.Heal()
	a.reaches(report.PhaseDone)
	open()
	a.hasAll(b)
	b.Eventually("its take-over has ended", func() bool { return !b.status().Phase.Active() })
	if s := b.status(); s.Phase == report.PhaseDone || !strings.Contains(s.Reason, a.Indices.Index(report.Cities, 3)) {
		t.Errorf("the take-over is %+v, want it ended without success, and a reason that names the index in its way", s)
	}
}

// TestTakeOverOfALostIndex of another journal that nobody recreates.
func TestTakeOverOfALostIndex(t *testing.T) {
	t.Parallel()
	a, b := othersRig(t)
	a.Stop()
	a.Change("DELETE", "/"+a.Indices.Index(report.Cities, 1), "")
	require.NoError(t, b.Indexer.TakeOver(report.Cities))
	b.reaches(report.PhaseRetiring)
	a.restart(rebuilding(), nil, nil)
	b.hasAll(a)
}

// TestTakeOverKeepsToItsOwnIndex: while the new index is filled, nothing goes to the
// index of the other journal, and a document that no index accepts is a dead letter of
// its own.
func TestTakeOverKeepsToItsOwnIndex(t *testing.T) {
	t.Parallel()
	a := filledRig(t, rebuilding(), 30)
	b := a.beside(rebuilding())
	b.restart(rebuilding(), nil, reshaped{b.Indices.Set, `"risk_level":2`, `"risk_level":"low"`})
	b.Append(indexertest.Many(report.Cities, 30, "of b")...)
	b.Append(indexertest.Index(report.Cities, "poison", `{"title":"poison","risk_level":2}`))
	b.Eventually("the index is held", func() bool { return b.waitsFor(report.Cities) == "another_journal" })
	var strays atomic.Int64
	g := b.gate(1)
	gated := *b.Fault.Load()
	b.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.URL.Path == "/"+b.Indices.Alias(report.Cities)+"/_bulk" && b.status().Phase.Active() {
			strays.Add(1)
		}
		gated(w, req, next)
	})
	require.NoError(t, b.Indexer.TakeOver(report.Cities))
	<-g.reached
	a.Eventually("it waits for the end of the take-over", func() bool { return a.waitsFor(report.Cities) == "another_journal" })
	b.Append(indexertest.Index(report.Cities, "live", `{"title":"live"}`))
	if b.waitsFor(report.Cities) != "another_journal" {
		t.Error("nothing is reported as waiting, although apps search the index of the other journal")
	}
	close(g.open)
	b.reaches(report.PhaseDone)
	if n := strays.Load(); n > 0 {
		t.Errorf("%d bulks went to the alias", n)
	}
	b.Drained(report.Cities)
	if n := b.Stats().Kinds[report.Cities].DeadLetters; n != 1 {
		t.Errorf("%d dead letters, want 1", n)
	}
	b.WantCities(31, 1)
}

// TestTakeOverWithAnEmptyJournal is refused before anything is changed, with advice what
// to do.
func TestTakeOverWithAnEmptyJournal(t *testing.T) {
	t.Parallel()
	a := filledRig(t, rebuilding(), 30)
	b := a.beside(rebuilding())
	b.Append(indexertest.Index(report.Cities, "0", `{"title":"of b"}`))
	b.Run()
	b.Eventually("the index is held", func() bool { return b.waitsFor(report.Cities) == "another_journal" })
	var changed atomic.Int64
	b.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		_, last, _ := strings.Cut(req.URL.Path, "/_")
		if req.Method != http.MethodGet && last != "refresh" && last != "count" {
			changed.Add(1)
		}
		next.ServeHTTP(w, req)
	})
	require.NoError(t, b.Indexer.TakeOver(report.Cities))
	b.reaches(report.PhaseFailed)
	old := a.Indices.Index(report.Cities, 1)
	for _, text := range []string{"has 1 documents", "has 30", "delete it", "deliver", "--take-over", old} {
		if reason := b.status().Reason; !strings.Contains(reason, text) {
			t.Errorf("%q does not say %q", reason, text)
		}
	}
	b.Heal()
	if n := changed.Load(); n > 0 {
		t.Errorf("%d requests changed something, want none", n)
	}
	a.hasAll(b)
	a.Stop()
	b.Change("DELETE", "/"+old, "")
	require.NoError(t, b.Indexer.TakeOver(report.Cities))
	b.reaches(report.PhaseDone)
	a.restart(rebuilding(), nil, nil)
	b.hasAll(a)
}

// TestTakeOverThatComesToTooLittle is undone if the index accepts none of the journal's
// documents.
func TestTakeOverThatComesToTooLittle(t *testing.T) {
	t.Parallel()
	a := filledRig(t, rebuilding(), 30)
	b := a.beside(rebuilding())
	b.restart(rebuilding(), nil, reshaped{b.Indices.Set, `"risk_level":2`, `"risk_level":"low"`})
	for i := range 30 {
		b.Append(indexertest.Index(report.Cities, fmt.Sprint(i), `{"title":"of b","risk_level":2}`))
	}
	b.Eventually("the index is held", func() bool { return b.waitsFor(report.Cities) == "another_journal" })
	require.NoError(t, b.Indexer.TakeOver(report.Cities))
	b.reaches(report.PhaseFailed)
	a.hasAll(b)
	if reason := b.status().Reason; !strings.Contains(reason, "has 0 documents") {
		t.Error(reason)
	}
}

// TestProbeOfAnotherJournalIsNotFound: its versions are newer than the one that is
// awaited here.
func TestProbeOfAnotherJournalIsNotFound(t *testing.T) {
	t.Parallel()
	a := start(t, indexertest.Probed())
	others := a.Probe(indexertest.Often())
	others.Finds(1)
	b := a.beside(indexertest.Probed())
	b.Run()
	b.Eventually("the index of the probe is held", func() bool { return b.waitsFor(report.Probe) == "another_journal" })
	mine := b.Probe(indexertest.Once())
	others.Finds(50)
	if n := mine.Found(); n > 0 || mine.Unsearchable() == 0 {
		t.Errorf("the probe was found %d times and is unsearchable for %v, want 0 times", n, mine.Unsearchable())
	}
}
