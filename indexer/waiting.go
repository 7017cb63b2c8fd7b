package indexer

import (
	"context"
	"time"

	"riskdex/report"
)

// Waiting returns the waiting indices in the order of the kinds, the probe's last. It may be
// called concurrently.
func (x *Indexer) Waiting() []report.Waiting { return x.status.allWaiting() }

// WrongAliases returns what is wrong with the aliases that apps search, in the order of the kinds.
// It may be called concurrently.
func (x *Indexer) WrongAliases() []report.WrongAlias {
	x.status.mu.Lock()
	defer x.status.mu.Unlock()
	return inOrder(report.AllKinds(), x.status.wrong)
}

// setWrong notes what is wrong with the alias of a kind; nil means nothing.
func (s *statusRegistry) setWrong(kind report.Kind, wrong *report.WrongAlias) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.wrong, kind)
	if wrong != nil {
		s.wrong[kind] = *wrong
	}
}

// AwaitFirstCheck waits until the index of kind has been checked, and created if missing, or
// that has failed. It returns early when ctx ends or the indexer stops.
func (x *Indexer) AwaitFirstCheck(ctx context.Context, kind report.Kind) {
	x.status.mu.Lock()
	checked, waits := x.status.unchecked[kind]
	x.status.mu.Unlock()
	if !waits {
		return
	}
	select {
	case <-checked:
	case <-x.commands.stopped:
	case <-ctx.Done():
	}
}

// setWaiting notes that a lane waits because of trouble; nil means that it does not wait.
func (s *statusRegistry) setWaiting(kind report.Kind, index string, trouble *judgement, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if checked, ok := s.unchecked[kind]; ok {
		close(checked)
		delete(s.unchecked, kind)
	}
	if trouble == nil {
		delete(s.waiting, kind)
		return
	}
	since := now
	if before, ok := s.waiting[kind]; ok {
		since = before.Since
	}
	s.waiting[kind] = report.Waiting{
		Kind: kind, Index: index, Paused: trouble.holds(), Reason: trouble.reason,
		ErrorType: trouble.answer.ErrorType, Detail: trouble.answer.Detail, Since: since.UTC(),
	}
}

// waitingOf returns why a lane waits, or nil.
func (s *statusRegistry) waitingOf(kind report.Kind) *report.Waiting {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w, ok := s.waiting[kind]; ok {
		return &w
	}
	return nil
}

func (s *statusRegistry) allWaiting() []report.Waiting {
	s.mu.Lock()
	defer s.mu.Unlock()
	return inOrder(report.AllKinds(), s.waiting)
}
