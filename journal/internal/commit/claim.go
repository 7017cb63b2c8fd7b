package commit

import "riskdex/report"

// Claim is a document that was given out: its row in the journal, so that settling it needs no
// lookup, and its state at that time.
type Claim struct {
	Version report.Version
	Doc     int64 // 0 if unknown
	State   int64
}

// PendingPerAgain is how many pending changes are given out for each change that is sent again,
// if there are both.
const PendingPerAgain = 3
