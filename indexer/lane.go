package indexer

import (
	"time"

	"github.com/cenkalti/backoff/v4"

	"riskdex/elastic"
	"riskdex/report"
)

// lane is what the dispatcher knows of one kind's index. Only the dispatcher
// touches it.
type lane struct {
	kind report.Kind

	// trouble is why the lane is closed until openAt; nil when it is healthy. A
	// new lane is in trouble by definition: its index has not been seen yet.
	trouble   *judgement
	openAt    time.Time
	backoff   *backoff.ExponentialBackOff
	lastSeen  time.Time // when Elasticsearch was last asked and did its part
	checkedAt time.Time // when the index was last checked
	away      bool      // it has given no answer, or none of its own, since
	unasked   bool      // nobody has asked it yet: away only says that it may have been
	failedAt  time.Time // when changes were last sent in vain

	index           string // behind the alias when it was last checked
	suspect         bool   // the alias seems to be on another index by now
	known           bool   // it is known what earlier runs have left to do
	mappingCompared bool   // and whether the mapping has changed
	kindLocked      bool   // a rebuild has, or may have, the kind alone in the journal

	pending  bool // there may be something to claim
	wakeUps  int  // how often pending was set
	tasks    int  // under way
	claiming bool // one of them has not claimed yet
	alone    bool // one of them may have no other beside it

	rebuild  *rebuild // the last one; nil when there was none
	removals []removal

	visibility visibility
}

// wake notes that there may be something to claim.
func (l *lane) wake() {
	l.pending = true
	l.wakeUps++
}

// next returns the task that the lane could use at now, if any. limit is how
// many tasks one lane may have under way.
func (l *lane) next(now time.Time, limit int, cfg Config) (task, bool) {
	if l.claiming || l.alone || now.Before(l.openAt) {
		return task{}, false
	}
	t := task{max: cfg.BulkChanges, seen: l.wakeUps, target: l.rebuild.target()}
	if t.target != nil && t.target.stalled {
		t.max = min(t.max, trialChanges)
	}
	due, at, waiting := l.due()
	switch {
	case l.blocked():
		// One probe at a time, with nothing else under way: a lost index is made
		// again with everything the journal knows, and a document that is
		// settled in the old one meanwhile would be missed.
		t.check = true
		if !l.trouble.ofItems() {
			t.max = min(t.max, trialChanges)
		}
		if l.away && (!l.known || now.Sub(l.lastSeen) >= cfg.RestartTakes) {
			t.back, t.unasked = l.lastSeen, l.unasked
		}
		return l.own(t, now), l.tasks == 0
	case l.suspect:
		t.check = true
		return l.own(t, now), l.tasks == 0
	case waiting && !now.Before(at):
		return l.own(due, now), l.tasks == 0
	case now.Sub(l.checkedAt) >= cfg.CheckEvery:
		// Also where there is something to claim, or tasks are under way, which have to
		// end first: a kind that is never quiet for so long would never be checked.
		t.check = true
		return l.own(t, now), l.tasks == 0
	case l.pending && (t.target != nil || !l.takingOver()):
		return l.own(t, now), l.tasks < limit
	}
	return task{}, false
}

// blocked tells whether nothing but a check is to be done.
func (l *lane) blocked() bool { return l.trouble != nil && !(l.foreign() && l.takingOver()) }

// own makes t a task of this lane.
func (l *lane) own(t task, now time.Time) task {
	t.lane, t.rebuild, t.kind, t.known, t.mappingCompared, t.started = l, l.rebuild, l.kind, l.known, l.mappingCompared, now
	t.takeOver = l.takingOver()
	return t
}

// probeChanges keeps the bulks small with which a lane in trouble is tried, unless
// they are answered and only what is in them fails: others may be taken, and small
// bulks would have no room for them.
const trialChanges = 100

func (l *lane) begin(t task) {
	l.tasks++
	l.claiming = true
	l.alone = t.alone()
}

// noClaim is what a task claims that comes to no claim.
const noClaim = -1

// claimed notes how much the journal gave out in task t, or noClaim. It comes
// before end, once for each task.
func (l *lane) claimed(t task, n int) {
	l.claiming = false
	if n != noClaim {
		l.alone = false // the index has been checked: what is left is ordinary
		if t.check {
			l.checkedAt = t.started
		}
	}
	if n == 0 && t.seen == l.wakeUps {
		l.pending = false
	}
}

// end notes what came of task t, and reports whether the lane's trouble began,
// changed or ended.
func (l *lane) end(t task, out outcome, now time.Time, cfg Config) (changed bool) {
	before := l.trouble
	l.tasks--
	l.alone = l.alone && !t.alone()
	if t.step != stepNone {
		l.endStep(t, out.step, now, cfg)
		return false
	}
	if out.checked {
		l.index, l.suspect, l.checkedAt = out.index, false, now
	}
	if out.wrote != "" && out.wrote != l.index && !out.checked {
		l.suspect = true
	}
	l.visibility.lacking = l.visibility.lacking || out.shown
	if out.lost {
		l.lose(now)
	}
	if out.trouble != nil && out.trouble.reason == elastic.ReasonAnotherJournal {
		l.leave(t, now)
	}
	if out.checked && out.foreign == nil && t.takeOver {
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
		if out.checked || !t.takeOver { // what the new index takes says nothing of the other one
			l.trouble = out.foreign
		}
		l.openAt = time.Time{}
		l.lastSeen, l.away, l.unasked = now, false, false
		l.backoff.Reset()
	}
	return reasonOf(before) != reasonOf(l.trouble)
}

// mayFailStill tells whether changes that failed one by one may not have been tried
// again yet: that nothing else is there to be sent does not show that they would be
// taken now. They may also have been settled elsewhere, so it ends.
func (l *lane) mayFailStill(now time.Time, cfg Config) bool {
	return l.trouble != nil && l.trouble.ofItems() && now.Sub(l.failedAt) < 2*longestWait*cfg.LongestBackoff
}

func reasonOf(j *judgement) string {
	if j == nil {
		return ""
	}
	return j.reason
}

// opens returns when the lane may next want a task without being woken, and
// whether there is such a time. A task under way wakes it when it ends: a time
// that has passed meanwhile would keep the dispatcher spinning.
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
	return at, true
}
