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
	lastSeen time.Time // when Elasticsearch last did its part

	pending  bool        // there may be something to claim
	wakeUps  int         // how often pending was set
	due      []time.Time // when changes that were put off may be claimed again
	turns    int         // under way
	claiming bool        // one of them has not claimed yet
	ensuring bool        // one of them looks after the index; no other may run
}

// wake notes that there may be something to claim.
func (l *lane) wake() {
	l.pending = true
	l.wakeUps++
}

// next returns the turn that the lane could use at now, if any. limit is how
// many turns one lane may have under way.
func (l *lane) next(now time.Time, limit int, cfg Config) (turn, bool) {
	l.wakeIfDue(now)
	if l.claiming || l.ensuring || now.Before(l.openAt) {
		return turn{}, false
	}
	t := turn{lane: l, kind: l.kind, max: cfg.BulkChanges, seen: l.wakeUps}
	switch {
	case l.trouble != nil:
		// One probe at a time, with nothing else under way: a lost index is made
		// again with everything the journal knows, and a document that is
		// settled in the old one meanwhile would be missed.
		t.ensure, t.max = true, min(cfg.BulkChanges, probeChanges)
		return t, l.turns == 0
	case l.pending:
		return t, l.turns < limit
	case l.turns == 0 && now.Sub(l.lastSeen) >= cfg.CheckEvery:
		t.ensure = true
		return t, true
	}
	return turn{}, false
}

// probeChanges keeps the bulks small with which a lane in trouble is tried.
const probeChanges = 100

func (l *lane) wakeIfDue(now time.Time) {
	later := l.due[:0]
	for _, at := range l.due {
		if at.After(now) {
			later = append(later, at)
		}
	}
	if len(later) < len(l.due) {
		l.wake()
	}
	l.due = later
}

func (l *lane) begin(t turn) {
	l.turns++
	l.claiming = true
	l.ensuring = t.ensure
}

// claimed notes how much the journal gave out in turn t; nothing, where it came
// to no claim. It comes before end, once for each turn.
func (l *lane) claimed(t turn, n int) {
	l.claiming = false
	if n == 0 && t.seen == l.wakeUps {
		l.pending = false
	}
}

// end notes what came of turn t, and reports whether the lane's trouble began,
// changed or ended.
func (l *lane) end(t turn, out outcome, now time.Time) (changed bool) {
	before := l.trouble
	l.turns--
	l.ensuring = l.ensuring && !t.ensure
	if !out.due.IsZero() {
		l.due = append(l.due, out.due)
	}
	l.trouble = out.trouble
	if out.trouble != nil {
		l.openAt = now.Add(l.backoff.NextBackOff())
		l.wake()
	} else {
		l.lastSeen, l.openAt = now, time.Time{}
		l.backoff.Reset()
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
	if l.trouble != nil {
		return l.openAt, l.turns == 0
	}
	if l.turns == 0 {
		at, ok = l.lastSeen.Add(cfg.CheckEvery), true
	}
	for _, due := range l.due {
		if !ok || due.Before(at) {
			at, ok = due, true
		}
	}
	return at, ok
}
