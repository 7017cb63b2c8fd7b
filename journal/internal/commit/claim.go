package commit

import "riskdex/report"

// Claim is what was given out of a document: where it stands in the journal, which
// spares looking for it when it is settled, and its state then.
type Claim struct {
	Version report.Version
	Doc     int64 // 0 when that is not known
	State   int64
}

// PendingPerAgain is how many pending changes are given out for each that is sent
// again, where there are both.
const PendingPerAgain = 3
