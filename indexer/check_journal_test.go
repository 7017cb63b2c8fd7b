package indexer

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/internal/testkit/logtest"
	"riskdex/report"
)

// maker is Documents under a name that no method of a Journal has.
type maker = Documents

// checking is an indexer between a fake journal and fake indices, whose answers the test
// sets.
type checking struct {
	Journal
	Indices
	maker
	lockKind      func(context.Context) error
	resendDeleted func() error
	lost          bool // the index exists
	mappingKnown  bool // the cluster returns the hash of the mapping
	forgotten     int
	place         string            // of the indices
	places        []string          // of them, at the next looks
	resending     int               // documents of each kind
	notes         map[string]string // in the journal
	resend        func() error
	unreadable    error // of the journal
	given         func(context.Context) error
	refreshed     []report.Kind // before they were compared
}

func (s *checking) Claim(context.Context, report.Kind, int, int) ([]report.Change, error) {
	return nil, s.unreadable
}
func (s *checking) Settle(context.Context, []report.Settlement) error { return s.unreadable }
func (s *checking) Changed() <-chan struct{}                          { return nil }
func (s *checking) LockKind(ctx context.Context, _ report.Kind) error { return s.lockKind(ctx) }
func (s *checking) UnlockKind(report.Kind)                            {}
func (s *checking) ResendDeleted(context.Context, report.Kind, time.Time) (int, error) {
	return 0, s.resendDeleted()
}
func (s *checking) Resend(context.Context, report.Kind, report.ResendCursor) (int, report.ResendCursor, error) {
	return 1, "", s.resend()
}
func (s *checking) Stats(context.Context) (report.Stats, error) {
	return report.Stats{Notes: s.notes, Kinds: map[report.Kind]report.KindStats{report.Cities: {Resending: s.resending}}}, nil
}
func (s *checking) Note(_ context.Context, name, value string) error {
	s.notes[name] = value
	return nil
}
func (s *checking) Given(ctx context.Context, kind report.Kind, _ int, refresh bool) ([]report.Stamp, error) {
	if refresh {
		s.refreshed = append(s.refreshed, kind)
	}
	if s.given != nil {
		return nil, s.given(ctx)
	}
	return nil, nil
}
func (s *checking) CheckGiven(context.Context, []report.Stamp) error { return nil }
func (s *checking) Place(context.Context) (string, error) {
	if len(s.places) > 0 {
		s.place, s.places = s.places[0], s.places[1:]
	}
	return s.place, nil
}
func (s *checking) Alias(kind report.Kind) string                   { return string(kind) }
func (s *checking) CheckLineage(context.Context, report.Kind) error { return nil }
func (s *checking) Forget(report.Kind)                              { s.forgotten++ }
func (s *checking) Ensure(ctx context.Context, _ report.Kind, resend func(context.Context) error) (string, error) {
	if s.lost {
		if err := resend(ctx); err != nil {
			return "", err
		}
	}
	return "v1", nil
}
func (s *checking) Leftovers(context.Context, report.Kind) (unfinished, old []string, err error) {
	return nil, nil, nil
}
func (s *checking) MappingChanged(context.Context, report.Kind) (bool, error) {
	if !s.mappingKnown {
		return false, errors.New("cut")
	}
	return false, nil
}
func (s *checking) Unfit(report.Kind) []string { return nil }

func (s *checking) indexer(t *testing.T) *Indexer {
	t.Helper()
	return s.indexerWith(t, slog.New(slog.DiscardHandler))
}

func (s *checking) indexerWith(t *testing.T, log *slog.Logger) *Indexer {
	t.Helper()
	x, err := New(DefaultConfig(), s, s, s, nil, prometheus.NewRegistry(), log)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (s *checking) checkIndex(t *testing.T, x *Indexer, asked task) outcome {
	t.Helper()
	asked.kind, asked.check, asked.max = report.Cities, true, 100
	return x.perform(t.Context(), asked, progress{claimed: func(claimed) {}})
}

// TestJournalThatTakesTooLongIsTrouble: the index is lost, and nothing may be sent before
// the journal has marked every document to be sent again.
func TestJournalThatTakesTooLongIsTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &checking{lost: true, lockKind: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		out := s.checkIndex(t, s.indexer(t), task{known: true})
		if out.trouble == nil || out.trouble.reason != reasonJournal || out.checked {
			t.Errorf("outcome %+v, want trouble with the reason journal, and the index not checked", out)
		}
	})
}

// TestComparisonThatHangsHoldsNothingUp: once an index was compared with the journal, a search that hangs
// keeps its kind waiting for a moment only, and other kinds not at all.
func TestComparisonThatHangsHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &checking{mappingKnown: true}
		x := s.indexer(t)
		s.checkIndex(t, x, task{known: true})
		var hanging atomic.Int64
		s.given = func(ctx context.Context) error {
			hanging.Add(1)
			<-ctx.Done()
			return ctx.Err()
		}
		began, ended := time.Now(), make(chan outcome)
		for _, kind := range []report.Kind{report.Cities, report.Advisories} {
			go func() {
				ended <- x.perform(t.Context(), task{kind: kind, known: true, check: true, max: 100}, progress{claimed: func(claimed) {}})
			}()
		}
		if synctest.Wait(); hanging.Load() != 2 {
			t.Errorf("%d kinds are compared at the same time, want both", hanging.Load())
		}
		for range 2 {
			if out := <-ended; out.trouble != nil || !out.checked {
				t.Errorf("outcome %+v, want a check that is complete", out)
			}
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("nothing was sent for %v", took)
		}
	})
}

// TestLastChangeIsCompared: the first comparison sees what was written just before the start, which no search
// may find yet, and what is sent next may replace.
func TestLastChangeIsCompared(t *testing.T) {
	t.Parallel()
	s := &checking{mappingKnown: true}
	x := s.indexer(t)
	for range 2 {
		s.checkIndex(t, x, task{known: true})
		if !slices.Equal(s.refreshed, x.cfg.kinds()) {
			t.Errorf("refreshed %v, want each kind once", s.refreshed)
		}
	}
}

// TestJournalIsNotElasticsearch: if the journal fails to mark deletes, that says nothing
// about Elasticsearch, which has just answered.
func TestJournalIsNotElasticsearch(t *testing.T) {
	t.Parallel()
	s := &checking{resendDeleted: func() error { return errors.New("the disk is full") }}
	x := s.indexer(t)
	out := s.checkIndex(t, x, task{known: true, back: time.Now()})
	if out.trouble == nil || out.trouble.reason != reasonJournal || out.checked {
		t.Errorf("outcome %+v, want trouble with the reason journal, and the index not checked", out)
	}
	if !x.ElasticsearchUp() {
		t.Error("Elasticsearch is shown as away")
	}
}

// TestFirstIndexCheckIsRepeatedUntilComplete: otherwise a changed mapping would go
// unnoticed until the next start.
func TestFirstIndexCheckIsRepeatedUntilComplete(t *testing.T) {
	t.Parallel()
	s := &checking{}
	x := s.indexer(t)
	if out := s.checkIndex(t, x, task{}); out.trouble == nil || out.found != nil {
		t.Errorf("when the cluster does not tell the mapping: %+v, want trouble and nothing found", out)
	}
	s.mappingKnown = true
	if out := s.checkIndex(t, x, task{}); out.trouble != nil || out.found == nil {
		t.Errorf("when the check is complete: %+v, want no trouble and something found", out)
	}
}

// TestPlaceIsNotedOnceEverythingIsMarked: at another place than before, everything is sent
// again, and as long as the journal has not marked it, nothing is sent and nothing noted.
func TestPlaceIsNotedOnceEverythingIsMarked(t *testing.T) {
	t.Parallel()
	name := report.PlaceNote(report.Cities)
	marked, full := 0, true
	s := &checking{mappingKnown: true, place: "new/", notes: map[string]string{name: "old/"}, lockKind: func(context.Context) error { return nil }}
	s.resend = func() error {
		if full {
			return errors.New("the disk is full")
		}
		marked++
		return nil
	}
	x := s.indexer(t)
	out := s.checkIndex(t, x, task{known: true})
	if out.trouble == nil || out.trouble.reason != reasonJournal || out.checked || s.notes[name] != "old/" {
		t.Errorf("outcome %+v and note %q, want trouble with the reason journal, and the note from before", out, s.notes[name])
	}
	full = false
	for range 2 {
		if out = s.checkIndex(t, x, task{known: true}); out.trouble != nil || marked != 1 || s.notes[name] != "new/" {
			t.Errorf("outcome %+v, marked %d times, note %q; want no trouble, once, and the new place", out, marked, s.notes[name])
		}
	}
	s.place, marked = "", 0 // the cluster does not tell
	if out = s.checkIndex(t, x, task{known: true}); out.trouble != nil || marked != 0 || s.notes[name] != "new/" {
		t.Errorf("outcome %+v, marked %d times, note %q; want that nothing changes", out, marked, s.notes[name])
	}
}

// TestProcessesAtTwoPlacesAreTold: two processes with one journal lead to two clusters. That is noted,
// everything is sent again once and not by each check, no index is replaced meanwhile, and it ends once
// one of them has stopped.
func TestProcessesAtTwoPlacesAreTold(t *testing.T) {
	t.Parallel()
	notes, marked := map[string]string{report.PlaceNote(report.Cities): "first/"}, 0
	at := func(place string) (s *checking, check func()) {
		s = &checking{mappingKnown: true, place: place, notes: notes, lockKind: func(context.Context) error { return nil }}
		s.resend = func() error { marked++; return nil }
		x := s.indexer(t)
		return s, func() {
			t.Helper()
			if out := s.checkIndex(t, x, task{known: true}); out.trouble != nil {
				t.Fatalf("outcome %+v", out)
			}
			if told, err := report.TurnsIn(notes).Last(time.Now()), x.mayReplace(t.Context(), report.Cities); told != errors.Is(err, report.ErrSeveralClusters) {
				t.Errorf("told: %t, and an index may be replaced: %v", told, err)
			}
		}
	}
	_, first := at("first/")
	_, second := at("second/")
	first()
	second() // all may be moving there
	if turns := report.TurnsIn(notes); !turns.At.IsZero() || marked != 1 {
		t.Errorf("a move is told as %+v, and everything sent again %d times", turns, marked)
	}
	for range 3 {
		first()
		second()
	}
	turns := report.TurnsIn(notes)
	if !slices.Equal(turns.Places, []string{"first/", "second/"}) || marked != 2 {
		t.Errorf("told are %+v; everything is sent again %d times", turns, marked)
	}
	second()
	before := report.TurnsIn(notes)
	for range 3 {
		second()
	}
	if after := report.TurnsIn(notes); !after.At.Equal(before.At) {
		t.Error("one that is alone goes on to say that there are two")
	}
}

// TestAliasMovedByTheRebuildingProcessIsNotForeign: the process that has locked the kind
// may have moved the alias.
func TestAliasMovedByTheRebuildingProcessIsNotForeign(t *testing.T) {
	t.Parallel()
	s := &checking{lockKind: func(context.Context) error { return report.ErrKindLocked }}
	for _, step := range []step{stepBegin, stepSwap} {
		s.forgotten = 0
		out := s.indexer(t).perform(t.Context(), task{kind: report.Cities, step: step, from: "v1", to: "v2"}, progress{claimed: func(claimed) {}})
		if !out.step.lockedByOther || s.forgotten != 1 {
			t.Errorf("step %v: locked by another %v, forgotten %d times", step, out.step.lockedByOther, s.forgotten)
		}
	}
}

// TestStepThatTakesTooLongIsLogged: it is tried again, and somebody has to know why nothing
// happens. A stop is no trouble.
func TestStepThatTakesTooLongIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &checking{lockKind: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		var log logtest.Buffer
		x := s.indexerWith(t, slog.New(slog.NewTextHandler(&log, nil)))
		begin := task{kind: report.Cities, step: stepBegin, from: "v1"}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		for ctx, want := range map[context.Context]int{stopped: 0, t.Context(): 1} {
			before := log.Count("a step could not be taken")
			out := x.perform(ctx, begin, progress{claimed: func(claimed) {}})
			if n := log.Count("a step could not be taken") - before; out.step.failed == nil || n != want {
				t.Errorf("failed %+v, logged %d times, want %d", out.step.failed, n, want)
			}
		}
	})
}

// TestUnreadableJournalIsLoggedNowAndThen, however often it is tried.
func TestUnreadableJournalIsLoggedNowAndThen(t *testing.T) {
	for name, run := range map[string]func(ctx context.Context, x *Indexer){
		"claim": func(ctx context.Context, x *Indexer) { _ = x.Run(ctx) },
		"settle": func(ctx context.Context, x *Indexer) {
			stop := context.AfterFunc(ctx, func() { close(x.giveUp) })
			defer stop()
			x.settle(ctx, nil, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				s := &checking{unreadable: errors.New("the disk is gone")}
				x := s.indexerWith(t, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelInfo})))
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				run(ctx, x)
				lines := strings.Count(log.String(), "the disk is gone")
				if lines < 1 || lines > 7 || strings.Count(log.String(), "level=ERROR") != lines {
					t.Errorf("%d lines in an hour:\n%.2000s", lines, log.String())
				}
			})
		})
	}
}

func (*checking) Use(report.Kind, string) error { return nil }
