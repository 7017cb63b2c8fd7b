package indexer

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/report"
)

// maker is Documents by a name that no method of a Journal has.
type maker = Documents

// looking is an indexer between a journal and indices of which a test says what
// they do.
type looking struct {
	Journal
	Indices
	maker
	hold          func(context.Context) error
	resendDeleted func() error
	lost          bool // the index is
	mappingKnown  bool // the cluster says what the index was made from
	forgotten     int
}

func (s *looking) Claim(context.Context, report.Kind, int, int) ([]report.Change, error) {
	return nil, nil
}
func (s *looking) LockKind(ctx context.Context, _ report.Kind) error { return s.hold(ctx) }
func (s *looking) UnlockKind(report.Kind)                            {}
func (s *looking) ResendDeleted(context.Context, report.Kind, time.Time) (int, error) {
	return 0, s.resendDeleted()
}
func (s *looking) Alias(kind report.Kind) string                { return string(kind) }
func (s *looking) CheckLine(context.Context, report.Kind) error { return nil }
func (s *looking) Forget(report.Kind)                           { s.forgotten++ }
func (s *looking) Ensure(ctx context.Context, _ report.Kind, resend func(context.Context) error) (string, error) {
	if s.lost {
		if err := resend(ctx); err != nil {
			return "", err
		}
	}
	return "v1", nil
}
func (s *looking) Leftovers(context.Context, report.Kind) (unfinished, old []string, err error) {
	return nil, nil, nil
}
func (s *looking) MappingChanged(context.Context, report.Kind) (bool, error) {
	if !s.mappingKnown {
		return false, errors.New("cut")
	}
	return false, nil
}
func (s *looking) Unfit(report.Kind) []string { return nil }

func (s *looking) indexer(t *testing.T) *Indexer {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	x, err := New(DefaultConfig(), s, s, s, nil, prometheus.NewRegistry(), log)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (s *looking) look(t *testing.T, x *Indexer, asked task) outcome {
	t.Helper()
	asked.kind, asked.check, asked.max = report.Cities, true, 100
	return x.perform(t.Context(), asked, func(int) {})
}

// TestJournalThatTakesTooLongIsTrouble: the index is lost, and nothing may be sent
// before the journal has marked what it lacks.
func TestJournalThatTakesTooLongIsTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &looking{lost: true, hold: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		out := s.look(t, s.indexer(t), task{known: true})
		if out.trouble == nil || out.trouble.reason != reasonJournal || out.checked {
			t.Errorf("%+v", out)
		}
	})
}

// TestJournalIsNotElasticsearch: that deletes cannot be marked says nothing of the
// server that has just been asked.
func TestJournalIsNotElasticsearch(t *testing.T) {
	s := &looking{resendDeleted: func() error { return errors.New("the disk is full") }}
	x := s.indexer(t)
	out := s.look(t, x, task{known: true, back: time.Now()})
	if out.trouble == nil || out.trouble.reason != reasonJournal || out.checked {
		t.Errorf("%+v", out)
	}
	if !x.ElasticsearchUp() {
		t.Error("Elasticsearch is shown as away")
	}
}

// TestFirstLookIsRepeatedUntilItHasSeenEverything, or a mapping that has changed would
// not be noticed before the next start.
func TestFirstLookIsRepeatedUntilItHasSeenEverything(t *testing.T) {
	s := &looking{}
	x := s.indexer(t)
	if out := s.look(t, x, task{}); out.trouble == nil || out.found != nil {
		t.Errorf("half of it: %+v", out)
	}
	s.mappingKnown = true
	if out := s.look(t, x, task{}); out.trouble != nil || out.found == nil {
		t.Errorf("all of it: %+v", out)
	}
}

// TestStepOfAnotherProcessIsNotTakenForAStrangers: whoever has the kind alone may have
// moved the alias, and not just anybody.
func TestStepOfAnotherProcessIsNotTakenForAStrangers(t *testing.T) {
	s := &looking{hold: func(context.Context) error { return report.ErrHeld }}
	for _, step := range []step{stepBegin, stepSwap} {
		s.forgotten = 0
		out := s.indexer(t).perform(t.Context(), task{kind: report.Cities, step: step, from: "v1", to: "v2"}, func(int) {})
		if !out.step.lost || s.forgotten != 1 {
			t.Errorf("step %v: lost %v, forgotten %d times", step, out.step.lost, s.forgotten)
		}
	}
}
