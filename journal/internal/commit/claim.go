package commit

import "riskdex/report"

// Claim is a document that was given out: its row in the journal, so that settling it needs no
// lookup, and its state at that time.
type Claim struct {
	Version report.Version
	Doc     int64 // 0 if unknown
	State   int64
}

// PendingPerResent is how many claims of pending changes go before each claim of changes that are
// sent again, if there are both.
const PendingPerResent = 3

// ChooseResent tells which changes the next claim gives out, given how many there are of both sorts:
// those that are sent again, or the pending ones. since is how many claims of pending changes went
// before, since the last of the others.
func ChooseResent(pending, resent, since int) bool {
	return resent > 0 && (pending == 0 || since >= PendingPerResent)
}
