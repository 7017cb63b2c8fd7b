package indexer

import (
	"time"

	"riskdex/elastic"
	"riskdex/report"
)

// An index that is filled from another journal is paused: what is accepted for it waits in
// this one, and nothing is written, refreshed, rebuilt or repaired, until an operator has
// this journal take over. Which journal fills an index, the index says itself. Every
// check, every step of a rebuild and every verification asks it first.
//
// A take-over is a rebuild of which the new index is the claim (mappings/indices/line.go).

// foreign tells whether the lane's index was filled from another journal at the last check.
func (l *lane) foreign() bool { return reasonOf(l.trouble) == elastic.ReasonAnotherJournal }

// takingOver tells whether a rebuild is to take the index over from another journal, or
// does so. The lane remains in trouble until the new index has taken the place of the
// other journal's, which is never written to: the changes go to the new one alone. Any
// check that is not for a take-over undoes what one has left. So it does not matter where
// one ends, or what of it was on its way then.
func (l *lane) takingOver() bool { return l.rebuild.active() && l.rebuild.takesOver }

// leave notes that another journal fills the index, which may just have taken over. Of a
// rebuild that was begun since task t, it says nothing.
func (l *lane) leave(t task, now time.Time) {
	l.known, l.index = false, ""
	if l.rebuild.active() && l.rebuild == t.rebuild {
		l.endRebuild(report.PhaseStopped, "another journal fills this index now", now)
	}
	l.removals = nil // they are up to that one, or to the next check
}

// takeOver has the index checked before its rebuild begins.
func (l *lane) takeOver(now time.Time) {
	l.rebuild.takesOver = true
	l.suspect, l.openAt = true, now
}

// undecided is why a lane waits for the next check to show which journal fills its index.
// It is no failure.
func undecided(err error) *judgement {
	return &judgement{verdict: elastic.Retry, reason: reasonStarting, answer: elastic.Answer{Level: elastic.LevelRequest, Detail: err.Error()}}
}
