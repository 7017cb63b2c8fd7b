package verify

import (
	"fmt"
	"time"

	"riskdex/report"
)

// Problem is what is wrong with a document in the index.
type Problem string

// The problems.
const (
	// Missing: the journal has the document, and the index should.
	Missing Problem = "missing"
	// Stale: the index has an older version, or one of a document that is deleted.
	Stale Problem = "stale"
	// Foreign: the index has what this journal never gave out: an unknown
	// document, or a version newer than the newest.
	Foreign Problem = "foreign"
)

// Finding is one document that differs.
type Finding struct {
	report.Key
	Problem        Problem
	IndexVersion   report.Version // 0 when the index does not have the document
	JournalVersion report.Version // 0 when the journal does not know it
	Deleted        bool           // by the journal, the document is deleted

	// Mended tells that the index was seen to be right after a repair. Without
	// it, the document may still be on its way, see Report.Ordered.
	Mended bool
}

// Report is what a verification found.
type Report struct {
	Kind      report.Kind
	Documents int // that the journal knows: live and deleted ones
	Deleted   int // of Documents
	Refused   int // of the live ones, by Elasticsearch: the index has an older version, or none
	Indexed   int // in the index
	UnderWay  int // of Documents, not judged, because they were changing or waiting to be sent

	Missing, Stale, Foreign int
	Unknown                 int       // of Foreign: the journal does not know the document
	Findings                []Finding // the first of them, up to VerifyConfig.MaxFindings

	Ordered int // of those found, given to the journal to be sent or deleted
	Mended  int // of Ordered, seen to be right afterwards

	// Kept is how many foreign documents a repair has left as they are, because
	// they may come from another journal and be newer than what this one has:
	// all that are unknown when WrongJournal is set, and those that OtherJournal
	// counts. Options.RemoveForeign has them mended all the same.
	Kept int
	// WrongJournal tells that more than half of the index is unknown to the
	// journal, which hence is a fresh one, or that of another index.
	WrongJournal bool
	// OtherJournal counts versions that no hand writes, but another journal does.
	OtherJournal int

	ahead int // foreign versions that are ahead of the clock
}

// Live returns how many documents the journal has that are not deleted.
func (r Report) Live() int { return r.Documents - r.Deleted }

func (r *Report) countKnown(entries []report.Entry) {
	r.Documents += len(entries)
	for _, e := range entries {
		switch {
		case e.Op == report.Delete:
			r.Deleted++
		case e.Refused():
			r.Refused++
		}
	}
}

// Found returns how many documents differ.
func (r Report) Found() int { return r.Missing + r.Stale + r.Foreign }

// Wrong returns how many of those found were not seen mended.
func (r Report) Wrong() int { return r.Found() - r.Mended }

// Advice says what an operator should know before anything is done about
// foreign documents; empty where there is nothing to say.
func (r Report) Advice() string {
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

func (r *Report) count(f Finding, max int) {
	switch f.Problem {
	case Missing:
		r.Missing++
	case Stale:
		r.Stale++
	case Foreign:
		r.Foreign++
		if f.JournalVersion == 0 {
			r.Unknown++
		}
	}
	if f.Mended {
		r.Mended++
	}
	if f.ofAnotherJournal() {
		r.OtherJournal++
	}
	if f.aheadOfClock() {
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
func (f Finding) ofAnotherJournal() bool {
	const clock, byHand = 1_000_000_000_000_000, 1_000_000 // the year 2001; a second
	return f.Problem == Foreign && f.IndexVersion >= clock && !f.aheadOfClock() && f.IndexVersion-f.JournalVersion > byHand
}

// aheadOfClock allows for clocks that differ a little.
func (f Finding) aheadOfClock() bool {
	return f.Problem == Foreign && f.IndexVersion > max(f.JournalVersion, report.Version(time.Now().Add(time.Minute).UnixMicro()))
}

// The passes of a verification, in this order.
const (
	PhaseJournal = "journal" // what the journal has is looked for in the index
	PhaseCount   = "count"   // before a repair: how much of the index is unknown
	PhaseIndex   = "index"   // what the index has is looked for in the journal
)

// Progress tells how far a verification is.
type Progress struct {
	Kind  report.Kind
	Phase string
	Done  int // documents looked at in this phase
	Total int // of this phase; 0 when it is not known
	Found int // findings so far
}
