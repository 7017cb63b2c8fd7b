package verify

import (
	"fmt"
	"time"

	"riskdex/report"
)

// Report is the result of a verification.
type Report struct {
	report.VerifyReport

	Unknown  int                    // of Foreign: the journal does not know the document
	Findings []report.VerifyFinding // the first of them, up to Config.MaxFindings

	// WrongJournal tells that the journal does not know more than half of the index: it is
	// a fresh one, or that of another index. A repair then leaves all unknown documents
	// alone, and always those that OtherJournal counts, unless Options.RemoveForeign is set.
	WrongJournal bool
	// OtherJournal counts versions that only another journal can have given out.
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

// advice returns what an operator should know before doing anything about foreign documents,
// or nothing.
func (r Report) advice() string {
	const restore = "if this journal was restored from a backup or begun anew, ask the publisher to deliver everything again first; " +
		"only if it is certain that this journal is right, repair with the removal of foreign documents, or rebuild the index"
	switch {
	case r.WrongJournal:
		return fmt.Sprintf("the journal does not know %d of the %d documents of the index: it is a fresh journal, or that of another index; %s",
			r.Unknown, r.Indexed, restore)
	case r.OtherJournal > 0:
		return fmt.Sprintf("%d documents have versions that another journal gave out, or this one before it was set back: they may be newer than what this one has; %s",
			r.OtherJournal, restore)
	case r.ahead > 0:
		return fmt.Sprintf("%d documents have versions ahead of the clock, which no journal gives out while its clock is right: "+
			"a repair writes this journal's records with higher versions; where no higher version is possible, the record becomes a dead letter until the index is rebuilt", r.ahead)
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
	if f.Repaired {
		r.Repaired++
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

// ofAnotherJournal reports whether the version in the index comes from another journal: versions
// are microseconds of the clock, while a manual write begins at 1 or counts up from what is
// there. A repair must not destroy what this journal may lack. A version ahead of the clock
// proves nothing: somebody made it up, or a clock was wrong.
func ofAnotherJournal(f report.VerifyFinding) bool {
	const clock, byHand = 1_000_000_000_000_000, 1_000_000 // the year 2001; a second
	return f.Problem == report.Foreign && f.IndexVersion >= clock && !aheadOfClock(f) && f.IndexVersion-f.JournalVersion > byHand
}

// aheadOfClock allows for clocks that differ a little.
func aheadOfClock(f report.VerifyFinding) bool {
	return f.Problem == report.Foreign && f.IndexVersion > max(f.JournalVersion, report.Version(time.Now().Add(time.Minute).UnixMicro()))
}

// The phases of a verification, in this order.
const (
	PhaseJournal = "journal" // the documents of the journal are looked up in the index
	PhaseCount   = "count"   // before a repair: unknown documents of the index are counted
	PhaseIndex   = "index"   // the documents of the index are looked up in the journal
)
