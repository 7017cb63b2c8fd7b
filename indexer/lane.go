package indexer

import (
	"time"

	"github.com/cenkalti/backoff/v4"

	"riskdex/report"
)

// lane is what the dispatcher knows of one kind's index. Only the dispatcher
// touches it.
type lane struct {
	kind report.Kind

	// trouble is why the lane is closed until openAt; nil when it is healthy. A
	// new lane is in trouble by definition: its index has not been seen yet.
	trouble  *judgement
	openAt   time.Time
	backoff  *backoff.ExponentialBackOff
	lastSeen time.Time // when Elasticsearch was last asked and did its part
	lookedAt time.Time // when the index was last looked at
	away     bool      // it has given no answer, or none of its own, since
	limit    int       // changes in a bulk at most; 0 is no limit of the lane's own

	crowd crowd

	index   string // behind the alias when it was last looked at
	suspect bool   // the alias seems to be on another index by now
	known   bool   // it is known what earlier runs have left to do
	checked bool   // and whether the mapping has changed
	holds   bool   // a rebuild has, or may have, the kind alone in the journal

	pending  bool // there may be something to claim
	wakeUps  int  // how often pending was set
	turns    int  // under way
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

// next returns the turn that the lane could use at now, if any. limit is how
// many turns one lane may have under way.
func (l *lane) next(now time.Time, limit int, cfg Config) (turn, bool) {
	if l.claiming || l.alone || now.Before(l.openAt) {
		return turn{}, false
	}
	t := turn{max: l.max(cfg), seen: l.wakeUps, target: l.rebuild.target(), crowded: l.crowd.since}
	if t.target != nil && t.target.stalled {
		t.max = min(t.max, probeChanges)
	}
	due, at, waiting := l.due()
	switch {
	case l.trouble != nil:
		// One probe at a time, with nothing else under way: a lost index is made
		// again with everything the journal knows, and a document that is
		// settled in the old one meanwhile would be missed.
		t.ensure = true
		if !l.trouble.ofItems() {
			t.max = min(t.max, probeChanges)
		}
		if l.away && (!l.known || now.Sub(l.lastSeen) >= cfg.RestartTakes) {
			t.back = l.lastSeen
		}
		return l.own(t, now), l.turns == 0
	case l.suspect:
		t.ensure = true
		return l.own(t, now), l.turns == 0
	case waiting && !now.Before(at):
		return l.own(due, now), l.turns == 0
	case l.turns == 0 && now.Sub(l.lookedAt) >= cfg.CheckEvery:
		// Also where there is something to claim: a kind that is never quiet for so
		// long, and be it because all commits wake it, would never be looked at.
		t.ensure = true
		return l.own(t, now), true
	case l.pending:
		return l.own(t, now), l.turns < limit
	}
	return turn{}, false
}

// own makes t a turn of this lane.
func (l *lane) own(t turn, now time.Time) turn {
	t.lane, t.rebuild, t.kind, t.known, t.checked, t.started = l, l.rebuild, l.kind, l.known, l.checked, now
	return t
}

// probeChanges keeps the bulks small with which a lane in trouble is tried, unless
// they are answered and only what is in them fails: others may be taken, and small
// bulks would have no room for them.
const probeChanges = 100

// max returns how many changes a bulk may have now. While bulks fail as a whole
// they are halved, down to a single change, which then lets others go first: it may
// be the cause of all the trouble, such as a document that something on the way
// takes offence at. When one gets through they grow again, and faster than they
// shrank: where most bulks are lost at random they must not stay small.
func (l *lane) max(cfg Config) int {
	if l.limit == 0 {
		return cfg.BulkChanges
	}
	return min(l.limit, cfg.BulkChanges)
}

func (l *lane) begin(t turn) {
	l.turns++
	l.claiming = true
	l.alone = t.alone()
}

// noClaim is what a turn claims that comes to no claim.
const noClaim = -1

// claimed notes how much the journal gave out in turn t, or noClaim. It comes
// before end, once for each turn.
func (l *lane) claimed(t turn, n int) {
	l.claiming = false
	if n != noClaim {
		l.alone = false // the index has been looked at: what is left is ordinary
	}
	if n == 0 && t.seen == l.wakeUps {
		l.pending = false
	}
}

// end notes what came of turn t, and reports whether the lane's trouble began,
// changed or ended.
func (l *lane) end(t turn, out outcome, now time.Time, cfg Config) (changed bool) {
	before := l.trouble
	l.turns--
	l.alone = l.alone && !t.alone()
	if t.step != stepNone {
		l.endStep(t, out.step, now, cfg)
		return false
	}
	if out.looked {
		l.index, l.suspect, l.lookedAt = out.index, false, now
	}
	if out.wrote != "" && out.wrote != l.index && !out.looked {
		l.suspect = true
	}
	l.visibility.lacking = l.visibility.lacking || out.shown
	if out.lost {
		l.lose(now)
	}
	l.noteRebuild(t, out, now, cfg)
	l.crowd.note(t, out, now)
	switch {
	case out.trouble != nil:
		l.trouble = out.trouble
		l.openAt = now.Add(l.backoff.NextBackOff())
		l.away = l.away || out.trouble.away()
		if out.spoilt {
			l.limit = max(1, min(l.max(cfg)/2, probeChanges))
		}
		l.wake()
	case out.looked && !out.sent && l.trouble != nil && l.crowd.waits(now, cfg):
		l.openAt = now.Add(l.backoff.NextBackOff())
		l.lastSeen, l.away = now, false
	case out.looked || out.sent: // otherwise Elasticsearch was not asked
		l.trouble, l.openAt = nil, time.Time{}
		l.lastSeen, l.away = now, false
		l.backoff.Reset()
		if l.limit *= 8; l.limit >= cfg.BulkChanges || !out.sent {
			l.limit = 0
		}
	}
	return reasonOf(before) != reasonOf(l.trouble)
}

func reasonOf(j *judgement) string {
	if j == nil {
		return ""
	}
	return j.reason
}

// opens returns when the lane may next want a turn without being woken, and
// whether there is such a time. A turn under way wakes it when it ends: a time
// that has passed meanwhile would keep the dispatcher spinning.
func (l *lane) opens(cfg Config) (at time.Time, ok bool) {
	if l.turns > 0 {
		return time.Time{}, false
	}
	if l.trouble != nil {
		return l.openAt, true
	}
	at = l.lookedAt.Add(cfg.CheckEvery)
	if _, due, ok := l.due(); ok && due.Before(at) {
		at = due
	}
	return at, true
}
