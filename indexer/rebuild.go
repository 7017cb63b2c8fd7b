package indexer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"riskdex/elastic"
	"riskdex/report"
)

// Why a command about a rebuild is not executed.
var (
	ErrNotRunning    = errors.New("the indexer is not running")
	ErrRebuilding    = errors.New("a rebuild of this kind is under way already")
	ErrNotRebuilding = errors.New("no rebuild of this kind is under way")
	ErrSwapping      = errors.New("the new index is complete and about to take its place; it is too late to stop")
)

// Rebuild starts to rebuild the index of kind. It returns at once; Rebuilds reports the
// progress. The error is ErrRebuilding or ErrNotRunning, or wraps
// report.ErrKindLocked, report.ErrAnotherJournal, report.ErrLossOpen or report.ErrSeveralClusters.
func (x *Indexer) Rebuild(kind report.Kind) error {
	if err := x.order(command{kind: kind}); err != nil {
		return fmt.Errorf("rebuild %s: %w", kind, err)
	}
	return nil
}

// TakeOver is Rebuild even if another journal fills the index. A running Indexer of that journal
// finds the new index at its next check, and pauses. Afterwards the new index replaces the old
// one, and the kind belongs to this journal. A take-over that ends in another way, such as with
// the process, leaves everything as it was.
func (x *Indexer) TakeOver(kind report.Kind) error {
	if err := x.order(command{kind: kind, takeOver: true}); err != nil {
		return fmt.Errorf("take %s over: %w", kind, err)
	}
	return nil
}

// order sends a command that replaces an index, if the journal lacks nothing.
func (x *Indexer) order(c command) error {
	ctx, cancel := context.WithTimeout(context.Background(), statsTimeout)
	defer cancel()
	if err := x.mayReplace(ctx, c.kind); err != nil {
		return err
	}
	return x.commands.send(c)
}

// StopRebuild gives up the rebuild of kind: the new index is deleted, and apps keep searching the
// old one. It also clears the failure of a rebuild, in any process. The error is ErrNotRebuilding, ErrSwapping or ErrNotRunning.
func (x *Indexer) StopRebuild(kind report.Kind) error {
	err := x.commands.send(command{kind: kind, stop: true})
	if errors.Is(err, ErrNotRebuilding) && x.clearRebuildFailure(kind) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("stop the rebuild of %s: %w", kind, err)
	}
	return nil
}

// Rebuilds returns the last rebuild of every kind that had one since the start. It may be called
// concurrently.
func (x *Indexer) Rebuilds() []report.Rebuild {
	all := x.status.allRebuilds()
	if !slices.ContainsFunc(all, func(r report.Rebuild) bool { return r.Phase.Active() }) {
		for i := range all {
			all[i].Done, all[i].Waiting = all[i].Phase.Done(), nil
		}
		return all
	}
	stats, away := x.askJournal()
	for i := range all {
		r := &all[i]
		r.Active, r.Done = r.Phase.Active(), r.Phase.Done()
		if r.Phase == report.PhaseFilling {
			measure(r, stats)
		}
		switch since := x.client.SilentSince(); {
		case !r.Active:
			r.Waiting = nil
		case away != nil:
			r.Waiting = waitsFor(report.WaitsForJournal, away.detail, away.since, *r)
		case r.Waiting != nil:
		case x.status.waitingOf(r.Kind) != nil:
			r.Waiting = x.status.waitingOf(r.Kind)
		case !since.IsZero() && time.Since(since) >= answerWithin:
			r.Waiting = waitsFor(elastic.ReasonUnreachable, x.client.Address()+": "+noAnswer, since, *r)
		}
	}
	return all
}

const (
	// statsTimeout bounds how long the journal may take to say whether an index may be replaced.
	statsTimeout = 5 * time.Second
	// answerWithin is how long the journal and Elasticsearch may be silent before a rebuild says so.
	answerWithin = 2 * time.Second
)

const noAnswer = "no answer yet"

func waitsFor(reason, detail string, since time.Time, r report.Rebuild) *report.Waiting {
	return &report.Waiting{Kind: r.Kind, Index: r.NewIndex, Reason: reason, Detail: detail, Since: since.UTC()}
}

// journalAway is why and since when the journal does not answer.
type journalAway struct {
	detail string
	since  time.Time
}

// askJournal asks what is left to be sent.
func (x *Indexer) askJournal() (report.Stats, *journalAway) {
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	began := time.Now()
	stats, err := x.journal.Stats(ctx)
	if err == nil {
		x.status.journalAway(nil)
		return stats, nil
	}
	away := &journalAway{err.Error(), began}
	if errors.Is(err, context.DeadlineExceeded) {
		away.detail = noAnswer
	}
	return stats, x.status.journalAway(away)
}

// journalAway notes whether the journal answers, and returns away since the first time that it did not.
func (s *statusRegistry) journalAway(away *journalAway) *journalAway {
	s.mu.Lock()
	defer s.mu.Unlock()
	if away != nil && s.away != nil {
		away.since = s.away.since
	}
	s.away = away
	return away
}

func measure(r *report.Rebuild, stats report.Stats) {
	k, ok := stats.Kinds[r.Kind]
	if !ok {
		r.Remaining = -1
		return
	}
	r.Remaining = min(toSend(k)+r.Unmarked, r.Total)
	r.SecondsLeft = estimate(r.Total-r.Remaining, r.Remaining, time.Since(r.FillingAt)).Seconds()
}

// estimate returns how long left documents take, if sent documents took that long.
func estimate(sent, left int, took time.Duration) time.Duration {
	if sent <= 0 || left <= 0 {
		return 0
	}
	return time.Duration(float64(took) / float64(sent) * float64(left))
}
