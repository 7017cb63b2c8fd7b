package journal

import "riskdex/report"

// quiet knows the kinds of which a Claim has found nothing to give out, and of which
// nothing can have become claimable since, so that the next Claim need not look. It goes
// by what was found and not by the totals, which damage may have changed. Whoever uses it
// holds the mutex beside it.
type quiet struct {
	kinds   map[report.Kind]bool
	looked  report.Kind // the kind that a Claim looks at, if any
	stirred bool        // something of it may have become claimable meanwhile
}

func newQuiet() quiet { return quiet{kinds: map[report.Kind]bool{}} }

// look begins to look at a kind.
func (q *quiet) look(k report.Kind) { q.looked, q.stirred = k, false }

// stir notes that something of a kind may have become claimable.
func (q *quiet) stir(k report.Kind) {
	delete(q.kinds, k)
	q.stirred = q.stirred || k == q.looked
}

func (q *quiet) stirAll() {
	clear(q.kinds)
	q.stirred = true
}

// end notes whether anything was found.
func (q *quiet) end(nothing bool) {
	if nothing && !q.stirred {
		q.kinds[q.looked] = true
	}
	q.looked = ""
}
