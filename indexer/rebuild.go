package indexer

import (
	"context"
	"errors"
	"fmt"
	"time"

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
// report.ErrKindLocked, report.ErrAnotherJournal or report.ErrLossOpen.
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
	for i := range all {
		all[i].Active, all[i].Done = all[i].Phase.Active(), all[i].Phase.Done()
		if all[i].Phase == report.PhaseFilling {
			x.measure(&all[i])
		}
		if !all[i].Active {
			all[i].Waiting = nil
		} else if all[i].Waiting == nil {
			all[i].Waiting = x.status.waitingOf(all[i].Kind)
		}
	}
	return all
}

// statsTimeout bounds how long the journal may take to count what is left.
const statsTimeout = 5 * time.Second

func (x *Indexer) measure(r *report.Rebuild) {
	ctx, cancel := context.WithTimeout(context.Background(), statsTimeout)
	defer cancel()
	stats, err := x.journal.Stats(ctx)
	if err != nil {
		r.Remaining = -1
		return
	}
	r.Remaining = min(toSend(stats.Kinds[r.Kind])+r.Unmarked, r.Total)
	r.SecondsLeft = estimate(r.Total-r.Remaining, r.Remaining, time.Since(r.FillingAt)).Seconds()
}

// estimate returns how long left documents take, if sent documents took that long.
func estimate(sent, left int, took time.Duration) time.Duration {
	if sent <= 0 || left <= 0 {
		return 0
	}
	return time.Duration(float64(took) / float64(sent) * float64(left))
}
