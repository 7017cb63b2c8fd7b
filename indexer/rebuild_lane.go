package indexer

import (
	"slices"
	"time"

	"github.com/cenkalti/backoff/v4"

	"riskdex/elastic"
	"riskdex/report"
)

// removal is an index to delete.
type removal struct {
	index string
	at    time.Time
	of    *rebuild // the rebuild that replaced the index; nil for others
}

func (l *lane) startRebuild(cause report.RebuildCause, newBackOff func() *backoff.ExponentialBackOff, now time.Time) error {
	if l.rebuild.active() {
		return ErrRebuilding
	}
	l.rebuild = &rebuild{backoff: newBackOff(), status: report.Rebuild{
		Kind: l.kind, Cause: cause, Phase: report.PhaseStarting, OldIndex: l.index, StartedAt: now,
	}}
	return nil
}

func (l *lane) stopRebuild(now time.Time) error {
	switch {
	case !l.rebuild.active():
		return ErrNotRebuilding
	case l.rebuild.status.Phase == report.PhaseSwapping:
		return ErrSwapping
	}
	l.endRebuild(report.PhaseStopped, "", now)
	return nil
}

// endRebuild gives up the rebuild. Tasks under way may still write to the new index, which is
// deleted after they have ended.
func (l *lane) endRebuild(phase report.RebuildPhase, reason string, now time.Time) {
	l.rebuild.end(phase, reason, now)
	if index := l.rebuild.status.NewIndex; index != "" {
		l.removals = append(l.removals, removal{index: index, at: now})
	}
}

// due returns the next step, and when it may be performed.
func (l *lane) due() (t task, at time.Time, ok bool) {
	if s, at, ok := l.rebuild.step(); ok {
		t := task{step: s, from: l.index, to: l.rebuild.status.NewIndex, fits: l.rebuild.fits}
		if s == stepSwap {
			t.from = l.rebuild.status.OldIndex // if the answer to a swap was lost, l.index may be the new one
		}
		return t, at, true
	}
	if len(l.removals) > 0 {
		first := slices.MinFunc(l.removals, func(a, b removal) int { return a.at.Compare(b.at) })
		return task{step: stepRemove, to: first.index}, first.at, true
	}
	return task{}, time.Time{}, false
}

// endStep notes the outcome of a step.
func (l *lane) endStep(t task, out stepOutcome, now time.Time, cfg Config) {
	if t.step == stepRemove {
		l.endRemoval(t.to, out.failed == nil, now, cfg)
		return
	}
	r := t.rebuild
	if out.index != "" {
		r.status.OldIndex, r.status.NewIndex = t.from, out.index
	}
	if t.step == stepMark {
		r.marking = false
	} else {
		l.kindLocked = true
	}
	r.noteWaiting(out.failed, now)
	l.recheck = l.recheck || out.failed != nil && out.failed.reason == elastic.ReasonAnotherJournal
	switch {
	case out.lockedByOther:
		l.leaveToOther(now)
	case !r.active(): // stopped meanwhile
		if t.step == stepBegin && out.index != "" {
			l.removals = append(l.removals, removal{index: out.index, at: now})
		}
	case out.failed != nil && out.failed.verdict == elastic.Retry:
		r.retryAt = now.Add(r.backoff.NextBackOff())
	case out.failed != nil:
		l.endRebuild(report.PhaseFailed, out.failed.answer.Detail, now)
	case t.step == stepBegin:
		r.begun(out, now, cfg)
	case t.step == stepMark:
		r.haveMarked(out)
		// A claim may have left out what was being looked at. After the last piece, the new
		// index may turn out to be complete.
		l.wake()
	default:
		r.swapped(now)
		l.index = t.to
		l.recheck = l.recheck || l.wrong != nil // which the swap has put right
		l.removals = append(l.removals, removal{index: t.from, at: now.Add(cfg.RetireAfter), of: r})
	}
}

// endRemoval retries a failed removal later: nothing depends on it.
func (l *lane) endRemoval(index string, ok bool, now time.Time, cfg Config) {
	l.removals = slices.DeleteFunc(l.removals, func(r removal) bool {
		if ok && r.index == index && r.of != nil && r.of.status.Phase == report.PhaseRetiring {
			r.of.status.Phase = report.PhaseDone
		}
		return ok && r.index == index
	})
	for i, r := range l.removals {
		if r.index == index {
			l.removals[i].at = now.Add(cfg.CheckEvery)
		}
	}
}

// leaveToOther notes that another process has locked the kind. That process does what has to be
// done, so a rebuild of this one ends, and the index is checked again afterwards.
func (l *lane) leaveToOther(now time.Time) {
	l.known, l.index, l.wrong = false, "", nil
	if l.rebuild.active() {
		l.endRebuild(report.PhaseStopped, "another process has locked this kind, to rebuild it or to fill its index anew", now)
	}
}

// noteRebuild notes what an ordinary task says about the rebuild.
func (l *lane) noteRebuild(t task, out outcome, now time.Time, cfg Config) {
	r := l.rebuild
	switch {
	case r.target() != nil && out.resent:
		// Everything goes to the alias again, and the new index may be gone.
		l.endRebuild(report.PhaseFailed, "the index behind the alias was lost, or the alias moved to another index; that one is filled first", now)
		l.known, l.recheck = false, true // check again whether a rebuild is needed
	case t.target == nil || r != t.rebuild || !r.active():
	case out.filling.broken != "":
		l.endRebuild(report.PhaseFailed, out.filling.broken, now)
	default:
		r.noteTask(out.filling, t.started)
		r.reminded = t.target.reminded                  // a check sets it
		r.asks = r.asks || out.sent || out.newIndexOnly // newIndexOnly: all may have been refused before they were sent
		if l.tasks == 0 && r.asks {
			// Nothing is under way: only now can the new index turn out to be complete.
			r.asks = false
			l.wake()
		}
		if !r.stalled.IsZero() && now.Sub(r.stalled) >= cfg.RebuildTimeout {
			l.endRebuild(report.PhaseFailed, "the new index took nothing for "+cfg.RebuildTimeout.String()+", while the old one did: "+out.filling.detail, now)
		}
	}
}

// noteFound starts what the first check of a kind found necessary.
func (l *lane) noteFound(found *found, newBackOff func() *backoff.ExponentialBackOff, now time.Time, cfg Config) {
	l.known, l.mappingCompared = true, true
	for _, index := range found.old {
		if !slices.ContainsFunc(l.removals, func(r removal) bool { return r.index == index }) {
			l.removals = append(l.removals, removal{index: index, at: now.Add(cfg.RetireAfter)})
		}
	}
	if cause, ok := found.cause(); ok && !l.rebuild.active() {
		_ = l.startRebuild(cause, newBackOff, now) // none is under way
	}
}
