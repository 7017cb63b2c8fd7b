package indexer

import (
	"time"

	"github.com/cenkalti/backoff/v4"

	"riskdex/elastic"
	"riskdex/report"
)

// rebuild is what the dispatcher knows about the rebuild of a lane's index, under way or over.
// Only the dispatcher uses it.
//
// It begins and ends with tasks that have nothing else under way for that kind: one creates the
// new index and, when that is complete, one moves the alias. In between, ordinary tasks write to
// both indices, and beside them tasks have the journal give out everything again, some thousand
// documents each.
type rebuild struct {
	status  report.Rebuild
	marked  bool // every document has been marked to be sent
	marking bool // a task does so
	// waitsItsTurn says that another task begins before the next documents are marked, if one is
	// wanted: neither may keep the other waiting.
	waitsItsTurn bool
	after        report.ResendCursor // it goes on from there
	sent         time.Time           // when no document was marked any more; see isComplete
	asks         bool                // something was sent since the lane was last woken to see whether it is complete
	since        report.Version      // see target
	reminded     time.Time           // see target
	backoff      *backoff.ExponentialBackOff
	retryAt      time.Time      // when a failed step may be retried
	takesOver    bool           // it is a take-over, and the index behind the alias may still be another journal's
	swapAfter    time.Time      // the swap comes no earlier
	stalled      time.Time      // since when the new index accepts nothing although the old one does; zero otherwise
	fits         []report.Stamp // dead letters of the old index that the new one accepted
}

// maxFits bounds fits. Further changes stay dead letters.
const maxFits = 10_000

// target is the second index that a task writes to. Documents that are sent again go to it alone,
// except those with a version above since: they were reissued after the rebuild began, and are
// meant for the index behind the alias too.
type target struct {
	index    string
	sent     time.Time
	since    report.Version
	reminded time.Time // the alias is reminded of deletes that were accepted at this time or later; zero if of none
	stalled  bool
	only     bool // nothing goes to the alias: another journal's index is behind it
	marked   bool // every document has been marked to be sent
}

// target returns what tasks write to besides the alias, or nil.
func (r *rebuild) target() *target {
	if r == nil || r.status.Phase != report.PhaseFilling && r.status.Phase != report.PhaseSwapping {
		return nil
	}
	return &target{index: r.status.NewIndex, sent: r.sent, since: r.since, reminded: r.reminded, stalled: !r.stalled.IsZero(), only: r.takesOver, marked: r.marked}
}

func (r *rebuild) active() bool { return r != nil && r.status.Phase.Active() }

// step returns the next step, and when it may be performed.
func (r *rebuild) step() (s step, at time.Time, ok bool) {
	switch {
	case r == nil:
	case r.status.Phase == report.PhaseStarting:
		return stepBegin, r.retryAt, true
	case r.status.Phase == report.PhaseSwapping:
		return stepSwap, later(r.retryAt, r.swapAfter), true
	}
	return stepNone, time.Time{}, false
}

// marks returns when the next documents may be marked, if there are any and no task does so.
func (r *rebuild) marks() (at time.Time, ok bool) {
	if r == nil || r.status.Phase != report.PhaseFilling || r.marked || r.marking {
		return time.Time{}, false
	}
	return r.retryAt, true
}

// begun, haveMarked, swapped, filled and end note the outcome of a step or a task.

func (r *rebuild) begun(out stepOutcome, now time.Time, cfg Config) {
	r.takesOver = r.takesOver && !out.own
	if r.takesOver {
		// By then, whoever fills the index behind the alias has found the new one, and
		// no longer writes to the alias.
		r.swapAfter = now.Add(2 * cfg.CheckEvery)
	}
	r.status.Phase, r.status.FillingAt = report.PhaseFilling, now
	r.status.Total, r.status.Remaining, r.status.Unmarked = out.total, out.total, out.unmarked
	r.since = out.since
	r.waitsItsTurn = true
	r.retryAt = time.Time{}
	r.backoff.Reset()
}

// noteWaiting notes why a step is to be taken again; failed is nil if it was taken.
func (r *rebuild) noteWaiting(failed *judgement, now time.Time) {
	before := r.status.Waiting
	r.status.Waiting = nil
	if failed == nil || failed.verdict != elastic.Retry {
		return
	}
	w := report.Waiting{Kind: r.status.Kind, Index: r.status.NewIndex, Reason: failed.reason,
		ErrorType: failed.answer.ErrorType, Detail: failed.answer.Detail, Since: now.UTC()}
	if before != nil {
		w.Since = before.Since
	}
	r.status.Waiting = &w
}

func (r *rebuild) haveMarked(out stepOutcome) {
	r.after, r.marked = out.next, out.next == ""
	r.status.Unmarked = max(0, r.status.Unmarked-out.marked)
	if r.marked {
		r.status.Unmarked = 0
	}
	r.retryAt = time.Time{}
	r.backoff.Reset()
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (r *rebuild) swapped(now time.Time) {
	r.status.Phase, r.status.Remaining, r.status.EndedAt = report.PhaseRetiring, 0, now
}

func (r *rebuild) filled() {
	if r.status.Phase == report.PhaseFilling {
		r.status.Phase, r.status.Remaining = report.PhaseSwapping, 0
	}
}

func (r *rebuild) end(phase report.RebuildPhase, reason string, now time.Time) {
	r.status.Phase, r.status.Reason, r.status.EndedAt = phase, reason, now
}

// noteTask updates the rebuild after a task that wrote to both indices.
func (r *rebuild) noteTask(f filling, started time.Time) {
	switch {
	case f.progress:
		r.stalled = time.Time{}
	case f.stalled && r.stalled.IsZero():
		r.stalled = started
	}
	r.fits = append(r.fits, f.fits[:min(len(f.fits), maxFits-len(r.fits))]...)
	if r.sent.IsZero() {
		r.sent = f.sent
	}
	if f.complete {
		r.filled()
	}
}
