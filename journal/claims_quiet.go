package journal

import "riskdex/report"

// quiet knows the kinds of which a Claim has found nothing to give out, and to which
// nothing has happened since, so that the next Claim need not look. It goes by what
// was found and not by the totals, which damage may have changed. Whoever uses it
// holds claims.mu.
type quiet struct {
	kinds   map[report.Kind]bool
	looked  report.Kind // the kind that a Claim looks at, if any
	stirred bool        // something has happened to it meanwhile
}

func newQuiet() quiet { return quiet{kinds: map[report.Kind]bool{}} }

// look begins to look at a kind.
func (q *quiet) look(k report.Kind) { q.looked, q.stirred = k, false }

// stir notes that something has happened to a kind: a commit, or a retry that is due.
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
