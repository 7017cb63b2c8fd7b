package indexer

import (
	"time"

	"riskdex/elastic"
	"riskdex/report"
)

// If an index is filled from another journal, it is paused: changes accepted for it wait in this
// journal, and nothing is written, refreshed, rebuilt or repaired, until an operator makes this
// journal take over. The index itself says which journal fills it, and every check, every step
// of a rebuild and every verification reads that first.
//
// A take-over is a rebuild of an index that another journal fills (mappings/indices/lineage.go).

// ownedByOther reports whether the lane's index was filled from another journal at the last check.
func (l *lane) ownedByOther() bool { return reasonOf(l.trouble) == elastic.ReasonAnotherJournal }

// takingOver reports whether a rebuild takes the index over from another journal, or is about to.
// The lane remains in trouble until the new index has replaced the other journal's. Changes go
// to the new index alone; the other one is never written to. Any later check undoes what an
// interrupted take-over has left behind, so it may be interrupted at any point.
func (l *lane) takingOver() bool { return l.rebuild.active() && l.rebuild.takesOver }

// leave notes that another journal fills the index, since it may just have taken over, and why that is
// known. This does not affect a rebuild that began after task t.
func (l *lane) leave(t task, why string, now time.Time) {
	l.known, l.index, l.wrong = false, "", nil
	if l.rebuild.active() && l.rebuild == t.rebuild {
		l.endRebuild(report.PhaseStopped, "another journal fills this index now: "+why, now)
	}
	l.removals = nil // the other journal removes these indices, or the next check does
}

// takeOver makes the index be checked before its rebuild begins.
func (l *lane) takeOver(now time.Time) {
	l.rebuild.takesOver = true
	l.recheck, l.openAt = true, now
}

// undecided says why a lane waits until the next check shows which journal fills its index. That
// is not a failure.
func undecided(err error) *judgement {
	return &judgement{verdict: elastic.Retry, reason: reasonStarting, answer: elastic.Answer{Level: elastic.LevelRequest, Detail: err.Error()}}
}
