package journal

import (
	"time"

	"riskdex/report"
)

// transaction is one group commit in the making, each request seeing what the
// earlier ones did. It has the rules of a journal, which are the same for every
// engine; store has the rows.
type transaction struct {
	store   store
	now     time.Time
	ledger  *ledger                  // a copy, valid once committed
	touched map[report.Key]bool      // documents whose row changed, or claim ends; true where a delivery did it
	kinds   map[report.Kind]struct{} // of them, and of those that were marked without being found
	byKind  bool                     // there are such
	settled []settled
	wake    bool // changes may become claimable

	displaced int64 // refusals that have lost their place
}

func newTransaction(s store, now time.Time, l *ledger) *transaction {
	return &transaction{
		store: s, now: now, ledger: l, touched: map[report.Key]bool{}, kinds: map[report.Kind]struct{}{},
	}
}

// carryOut runs requests up to the first that fails. It returns those that were not run,
// because they must not overtake what they would have.
func (tx *transaction) carryOut(group []*request) (stay []*request, err error) {
	for _, r := range group {
		r.ahead = append(r.ahead, stay...)
		may, err := tx.mayOvertake(r)
		if err != nil {
			return nil, err
		}
		if !may {
			stay = append(stay, r)
			continue
		}
		if err := r.run(tx); err != nil {
			return nil, err
		}
	}
	return stay, nil
}

// touch notes that the row of a document changed, or that its claim ends; delivered says
// that a delivery did it.
func (tx *transaction) touch(k report.Key, delivered bool) {
	tx.touched[k] = tx.touched[k] || delivered
	tx.kinds[k.Kind] = struct{}{}
}
