package verify

import (
	"fmt"
	"time"

	"riskdex/report"
)

// Report is what a verification found.
type Report struct {
	report.VerifyReport

	Unknown  int                    // of Foreign: the journal does not know the document
	Findings []report.VerifyFinding // the first of them, up to Config.MaxFindings

	// WrongJournal tells that more than half of the index is unknown to the
	// journal, which hence is a fresh one, or that of another index. A repair keeps all
	// that is unknown then, and whatever OtherJournal counts, unless Options.RemoveForeign
	// has them mended all the same.
	WrongJournal bool
	// OtherJournal counts versions that no hand writes, but another journal does.
	OtherJournal int

	ahead int // foreign versions that are ahead of the clock
}

func (r *Report) countKnown(entries []report.Entry) {
	r.Documents += len(entries)
	r.Live += len(entries)
	for _, e := range entries {
		switch {
		case e.Op == report.Delete:
			r.Deleted++
			r.Live--
		case e.Refused():
			r.Refused++
		}
	}
}

// advice says what an operator should know before anything is done about
// foreign documents; empty where there is nothing to say.
func (r Report) advice() string {
	const restore = "if this journal was restored from a backup or begun anew, have the publisher deliver everything again first; " +
		"only if it is certain that this journal is right, repair with the removal of foreign documents, or rebuild the index"
	switch {
	case r.WrongJournal:
		return fmt.Sprintf("the journal does not know %d of the %d documents of the index: it is a fresh journal, or that of another index; %s",
			r.Unknown, r.Indexed, restore)
	case r.OtherJournal > 0:
		return fmt.Sprintf("%d documents have versions that another journal gave out: they may be newer than what this one has; %s",
			r.OtherJournal, restore)
	case r.ahead > 0:
		return fmt.Sprintf("%d documents have versions ahead of the clock, which no journal gives out while its clock is right: "+
			"a repair has what this journal says written above them; what no version can pass becomes a dead letter, until its index is rebuilt", r.ahead)
	}
	return ""
}

func (r *Report) count(f report.VerifyFinding, max int) {
	switch f.Problem {
	case report.Missing:
		r.Missing++
	case report.Stale:
		r.Stale++
	case report.Foreign:
		r.Foreign++
		if f.JournalVersion == 0 {
			r.Unknown++
		}
	}
	if f.Mended {
		r.Mended++
	}
	if ofAnotherJournal(f) {
		r.OtherJournal++
	}
	if aheadOfClock(f) {
		r.ahead++
	}
	if len(r.Findings) < max {
		r.Findings = append(r.Findings, f)
	}
}

// ofAnotherJournal tells that the version in the index comes from a journal, and
// not from this one: versions are microseconds of the clock, while somebody who
// writes by hand begins at 1 or counts up from what is there. What this journal
// may lack must not be lost to a repair. A version ahead of the clock does not tell when
// it was written: somebody made it up, or a clock was wrong.
func ofAnotherJournal(f report.VerifyFinding) bool {
	const clock, byHand = 1_000_000_000_000_000, 1_000_000 // the year 2001; a second
	return f.Problem == report.Foreign && f.IndexVersion >= clock && !aheadOfClock(f) && f.IndexVersion-f.JournalVersion > byHand
}

// aheadOfClock allows for clocks that differ a little.
func aheadOfClock(f report.VerifyFinding) bool {
	return f.Problem == report.Foreign && f.IndexVersion > max(f.JournalVersion, report.Version(time.Now().Add(time.Minute).UnixMicro()))
}

// The passes of a verification, in this order.
const (
	PhaseJournal = "journal" // what the journal has is looked for in the index
	PhaseCount   = "count"   // before a repair: how much of the index is unknown
	PhaseIndex   = "index"   // what the index has is looked for in the journal
)
