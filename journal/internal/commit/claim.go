package commit

import "riskdex/report"

// Claim is a document that was given out: its row in the journal, so that settling it needs no
// lookup, and its state at that time.
type Claim struct {
	Version report.Version
	Doc     int64 // 0 if unknown
	State   int64
	Op      report.Op
}

// pendingPerResent is how many claims of pending changes go before each claim of changes that are
// sent again, if there are both.
const pendingPerResent = 3

// ClaimOrder says which changes the next claim of a kind gives out: it counts the claims of pending
// changes since the last of changes that are sent again.
type ClaimOrder map[report.Kind]int

// Next returns the states of documents that the next claim gives out: those in the first, or if
// there are none, those in the second.
func (t ClaimOrder) Next(kind report.Kind) [2]int {
	if t[kind] >= pendingPerResent {
		return [2]int{StateResend, StatePending}
	}
	return [2]int{StatePending, StateResend}
}

// Gave notes what a claim gave out, if anything.
func (t ClaimOrder) Gave(kind report.Kind, changes []report.Change) {
	switch {
	case len(changes) == 0:
	case changes[0].Resent:
		t[kind] = 0
	default:
		t[kind]++
	}
}
