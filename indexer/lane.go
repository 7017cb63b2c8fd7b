package indexer

import (
	"time"

	"github.com/cenkalti/backoff/v4"

	"riskdex/elastic"
	"riskdex/report"
)

// lane is what the dispatcher knows about the index of a kind. Only the dispatcher uses it.
type lane struct {
	kind report.Kind

	// trouble is why the lane is closed until openAt; nil if it is healthy. A new lane is in
	// trouble, because its index has not been checked yet.
	trouble   *judgement
	openAt    time.Time
	backoff   *backoff.ExponentialBackOff
	lastSeen  time.Time // when Elasticsearch last answered as it should
	checkedAt time.Time // when the index was last checked
	away      bool      // since then it has not answered, or a proxy did
	unasked   bool      // it has not been asked yet: away only means that it may have been
	failedAt  time.Time // when sending changes last failed

	index           string             // that apps are to search, when it was last checked
	wrong           *report.WrongAlias // what was wrong with the alias then
	recheck         bool               // the index has to be checked at once
	known           bool               // it is known what earlier runs have left to do
	mappingCompared bool               // and whether the mapping has changed
	kindLocked      bool               // a rebuild has, or may have, locked the kind in the journal

	pending      bool // there may be something to claim
	lags         bool // and to be searched: it does not only fill a new index
	wakeUps      int  // how often both were set
	tasks        int  // under way
	newIndexOnly int  // of these, how many fill a new index only
	claiming     bool // one of the tasks has not claimed yet
	exclusive    bool // one of the tasks excludes others

	rebuild  *rebuild // the last one; nil without one
	removals []removal

	visibility visibility
}

// wake notes that there may be something to claim.
func (l *lane) wake() {
	l.pending, l.lags = true, true
	l.wakeUps++
}

// next returns the task that the lane needs at now, if any. limit is how many tasks a lane may
// have under way.
func (l *lane) next(now time.Time, limit int, cfg Config) (task, bool) {
	if l.claiming || l.exclusive || now.Before(l.openAt) {
		return task{}, false
	}
	t := task{max: cfg.BulkChanges, bytes: cfg.BulkBytes, seen: l.wakeUps, index: l.index, target: l.rebuild.target()}
	if t.target != nil && t.target.sent.IsZero() {
		t.max, t.bytes = max(1, t.max/fillingShare), max(1, t.bytes/fillingShare)
	}
	if t.target != nil && t.target.stalled {
		t.max = min(t.max, trialChanges)
	}
	due, at, waiting := l.due()
	markAt, marks := l.rebuild.marks()
	switch {
	case l.blocked():
		// One task at a time, with nothing else under way: a lost index is created
		// again and filled with everything in the journal, and would lack a document
		// that is settled in the old one meanwhile.
		t.check = true
		if !l.trouble.ofItems() {
			t.max = min(t.max, trialChanges)
		}
		if l.away && (!l.known || now.Sub(l.lastSeen) >= cfg.RestartTakes) {
			t.back, t.unasked = l.lastSeen, l.unasked
		}
		return l.own(t, now), l.tasks == 0
	case l.recheck:
		t.check = true
		return l.own(t, now), l.tasks == 0
	case waiting && !now.Before(at):
		return l.own(due, now), l.tasks == 0
	case now.Sub(l.checkedAt) >= cfg.CheckEvery:
		// Even if there is something to claim, or tasks are under way, which have to end
		// first: otherwise a busy kind would never be checked.
		t.check = true
		return l.own(t, now), l.tasks == 0
	case marks && !now.Before(markAt) && !(l.pending && l.rebuild.waitsItsTurn):
		return l.own(task{step: stepMark, after: l.rebuild.after}, now), l.tasks < limit
	case l.pending && (t.target != nil || !l.takingOver()):
		return l.own(t, now), l.tasks < limit
	}
	return task{}, false
}

// blocked reports whether the lane needs nothing but a check.
func (l *lane) blocked() bool { return l.trouble != nil && !(l.ownedByOther() && l.takingOver()) }

// own makes t a task of this lane.
func (l *lane) own(t task, now time.Time) task {
	t.lane, t.rebuild, t.kind, t.known, t.mappingCompared, t.started, t.index = l, l.rebuild, l.kind, l.known, l.mappingCompared, now, l.index
	t.takeOver = l.takingOver()
	return t
}

// trialChanges keeps the bulks small that try a lane in trouble, unless Elasticsearch answers
// and only single changes fail: a small bulk would have no room for others, which may succeed.
const trialChanges = 100

// fillingShare is by how much bulks are smaller while a new index is filled. A live change waits
// for about half of one, in riskdex or in Elasticsearch, and smaller ones would slow the filling.
const fillingShare = 4

func (l *lane) begin(t task) {
	l.tasks++
	l.claiming = true
	l.exclusive = t.exclusive()
	if l.rebuild != nil {
		l.rebuild.waitsItsTurn = t.step == stepMark
	}
	if t.step == stepMark {
		t.rebuild.marking = true
	}
}

// claimed notes what task t has claimed. It is called once for each task, before end.
func (l *lane) claimed(t task, c claimed) {
	l.claiming = false
	if c.newIndexOnly {
		l.newIndexOnly++
	}
	if !c.asked {
		return
	}
	l.exclusive = false // the check is done: the rest of the task is ordinary
	if t.check {
		l.checkedAt = t.started
	}
	if t.seen == l.wakeUps {
		l.pending = l.pending && c.n > 0
		l.lags = l.pending && !c.newIndexOnly
	}
}

// aliasWritten notes that a task has written what it had for the index that apps search.
func (l *lane) aliasWritten() {
	l.newIndexOnly++
	l.visibility.lacking = true
}

// end notes the outcome of task t, and returns whether the lane's trouble began, changed or
// ended.
func (l *lane) end(t task, out outcome, now time.Time, cfg Config) (changed bool) {
	before := l.trouble
	l.tasks--
	if out.newIndexOnly {
		l.newIndexOnly--
	}
	l.exclusive = l.exclusive && !t.exclusive()
	if t.step != stepNone {
		l.endStep(t, out.step, now, cfg)
		return false
	}
	if out.checked {
		l.index, l.recheck, l.checkedAt = out.index, false, now
	}
	if out.resent || out.changedLater {
		l.known, l.mappingCompared = false, false // the index was not known before, or would be made otherwise now
	}
	if out.checked || out.wrong != nil {
		l.wrong = out.wrong
	}
	l.visibility.lacking = l.visibility.lacking || out.shown
	if out.lockedByOther {
		l.leaveToOther(now)
	}
	if out.trouble != nil && out.trouble.reason == elastic.ReasonAnotherJournal {
		l.leave(t, out.trouble.answer.Detail, now)
	}
	if out.checked && out.ownedByOther == nil && t.takeOver {
		t.rebuild.takesOver = false // the index is this journal's
	}
	l.noteRebuild(t, out, now, cfg)
	switch {
	case out.trouble != nil:
		l.trouble = out.trouble
		l.openAt = now.Add(l.backoff.NextBackOff())
		l.away = l.away || out.trouble.away()
		l.unasked = l.unasked && !out.trouble.away()
		if out.sent {
			l.failedAt = now
		}
		l.wake()
	case out.checked && !out.sent && l.mayFailStill(now, cfg):
		l.openAt = now.Add(l.backoff.NextBackOff())
		l.lastSeen, l.away, l.unasked = now, false, false
	case out.checked || out.sent: // otherwise Elasticsearch was not asked
		if out.checked || !t.takeOver { // success of the new index says nothing about the old one
			l.trouble = out.ownedByOther
		}
		l.openAt = time.Time{}
		l.lastSeen, l.away, l.unasked = now, false, false
		l.backoff.Reset()
	}
	return reasonOf(before) != reasonOf(l.trouble)
}

// mayFailStill reports whether changes that failed one by one may not have been retried yet: an
// empty queue does not show that they would succeed now. It ends after a while, since they may
// have been settled by another process.
func (l *lane) mayFailStill(now time.Time, cfg Config) bool {
	return l.trouble != nil && l.trouble.ofItems() && now.Sub(l.failedAt) < 2*longestWait*cfg.LongestBackoff
}

func reasonOf(j *judgement) string {
	if j == nil {
		return ""
	}
	return j.reason
}

// opens returns when the lane may next need a task without being woken, if there is such a time.
// A task under way wakes it at its end; a time that passes before would make the dispatcher
// spin.
func (l *lane) opens(cfg Config) (at time.Time, ok bool) {
	if l.tasks > 0 {
		return time.Time{}, false
	}
	if l.blocked() {
		return l.openAt, true
	}
	at = l.checkedAt.Add(cfg.CheckEvery)
	if _, due, ok := l.due(); ok && due.Before(at) {
		at = due
	}
	if mark, ok := l.rebuild.marks(); ok && mark.Before(at) {
		at = mark
	}
	return later(at, l.openAt), true
}
