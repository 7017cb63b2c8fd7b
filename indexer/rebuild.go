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

// Rebuild tells how far the rebuild of a kind is: a new index is filled from the
// journal while changes go to both, and then takes the place of the old one in
// one step.
type Rebuild struct {
	Kind  report.Kind
	Cause RebuildCause
	Phase RebuildPhase
	Old   string // the index that apps searched when it began
	New   string // the index that is filled; empty before there is one

	Total     int           // documents to send, deleted ones among them
	Remaining int           // of these, not sent yet; -1 where the journal cannot tell now
	Estimate  time.Duration // until they are sent, at the speed so far; 0 when unknown

	Started, Filling, Ended time.Time // zero until then; it has ended once apps search the new index, or never will
	Reason                  string    // why it failed
}

// RebuildPhase is how far a rebuild is.
type RebuildPhase string

// The phases of a rebuild, in order; it ends as one of the last three.
const (
	RebuildStarting RebuildPhase = "starting" // waits until the index is healthy, and makes the new one
	RebuildFilling  RebuildPhase = "filling"
	RebuildSwapping RebuildPhase = "swapping"
	RebuildRetiring RebuildPhase = "retiring" // apps search the new index, and the old one goes soon
	RebuildDone     RebuildPhase = "done"
	RebuildFailed   RebuildPhase = "failed"  // apps search the old index
	RebuildStopped  RebuildPhase = "stopped" // apps search the old index
)

// Active tells whether the new index has yet to take its place.
func (p RebuildPhase) Active() bool {
	return p == RebuildStarting || p == RebuildFilling || p == RebuildSwapping
}

// RebuildCause is why a rebuild was started.
type RebuildCause string

// The causes of a rebuild.
const (
	CauseOperator    RebuildCause = "operator"
	CauseMapping     RebuildCause = "mapping"     // at the start, the index was found to be made from another mapping
	CauseInterrupted RebuildCause = "interrupted" // at the start, one was found that the process before had begun
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
func (x *Indexer) Rebuilds() []Rebuild {
	all := x.status.allRebuilds()
	for i := range all {
		if all[i].Phase == RebuildFilling {
			x.measure(&all[i])
		}
	}
	return all
}

// statsTimeout bounds how long the journal may take to say how much is left.
const statsTimeout = 5 * time.Second

func (x *Indexer) measure(r *Rebuild) {
	ctx, cancel := context.WithTimeout(context.Background(), statsTimeout)
	defer cancel()
	stats, err := x.journal.Stats(ctx)
	if err != nil {
		r.Remaining = -1
		return
	}
	r.Remaining = min(toSend(stats.Kinds[r.Kind]), r.Total)
	r.Estimate = estimate(r.Total-r.Remaining, r.Remaining, time.Since(r.Filling))
}

// estimate is how long left takes at the speed at which sent were sent.
func estimate(sent, left int, took time.Duration) time.Duration {
	if sent <= 0 || left <= 0 {
		return 0
	}
	return time.Duration(float64(took) / float64(sent) * float64(left))
}
