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

// Rebuild starts to rebuild the index of kind. It returns at once; Rebuilds tells
// what comes of it. The error is ErrRebuilding or ErrNotRunning, or wraps
// report.ErrHeld or report.ErrAnotherJournal.
func (x *Indexer) Rebuild(kind report.Kind) error {
	if err := x.commands.send(command{kind: kind}); err != nil {
		return fmt.Errorf("rebuild %s: %w", kind, err)
	}
	return nil
}

// TakeOver is Rebuild also for an index that another journal fills. An Indexer of that
// journal that runs finds the new index when it next checks its index, and waits. The new index takes
// the place of the old one after that, and the kind is this journal's. A take-over that
// ends in another way, also with the process, leaves everything as it was.
func (x *Indexer) TakeOver(kind report.Kind) error {
	if err := x.commands.send(command{kind: kind, takeOver: true}); err != nil {
		return fmt.Errorf("take %s over: %w", kind, err)
	}
	return nil
}

// StopRebuild gives up the rebuild of kind: the new index is deleted, apps go on
// searching the old one. One that has failed, in whichever process, is no longer told of.
// The error is ErrNotRebuilding, ErrSwapping or ErrNotRunning.
func (x *Indexer) StopRebuild(kind report.Kind) error {
	err := x.commands.send(command{kind: kind, stop: true})
	if errors.Is(err, ErrNotRebuilding) && x.giveUpFailed(kind) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("stop the rebuild of %s: %w", kind, err)
	}
	return nil
}

// Rebuilds returns the last rebuild of every kind that has had one since the
// start.
func (x *Indexer) Rebuilds() []report.Rebuild {
	all := x.status.allRebuilds()
	for i := range all {
		all[i].Active, all[i].Done = all[i].Phase.Active(), all[i].Phase.Done()
		if all[i].Phase == report.PhaseFilling {
			x.measure(&all[i])
		}
	}
	return all
}

// statsTimeout bounds how long the journal may take to say how much is left.
const statsTimeout = 5 * time.Second

func (x *Indexer) measure(r *report.Rebuild) {
	ctx, cancel := context.WithTimeout(context.Background(), statsTimeout)
	defer cancel()
	stats, err := x.journal.Stats(ctx)
	if err != nil {
		r.Remaining = -1
		return
	}
	r.Remaining = min(toSend(stats.Kinds[r.Kind]), r.Total)
	r.SecondsLeft = estimate(r.Total-r.Remaining, r.Remaining, time.Since(r.FillingAt)).Seconds()
}

// estimate is how long left takes at the speed at which sent were sent.
func estimate(sent, left int, took time.Duration) time.Duration {
	if sent <= 0 || left <= 0 {
		return 0
	}
	return time.Duration(float64(took) / float64(sent) * float64(left))
}
