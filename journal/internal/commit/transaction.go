package commit

import (
	"time"

	"riskdex/report"
)

// Transaction is one group commit in the making. Each request sees what the earlier ones
// did. Its methods are the rules of a journal; its Store has the rows.
type Transaction struct {
	Store   Store
	Now     time.Time
	ledger  *Ledger                  // a copy, valid once committed
	Touched map[report.Key]bool      // documents whose row changed or whose claim ends; true where a delivery changed it
	Kinds   map[report.Kind]struct{} // of them, and of those that were marked without being found
	ByKind  bool                     // there are such
	Settled []Settled
	Wake    bool // changes may become claimable

	displaced int64 // refusals that have lost their place
}

// NewTransaction begins a group commit over a store, at a time. It changes l, which is a copy.
func NewTransaction(s Store, now time.Time, l *Ledger) *Transaction {
	return &Transaction{
		Store: s, Now: now, ledger: l, Touched: map[report.Key]bool{}, Kinds: map[report.Kind]struct{}{},
	}
}

// CarryOut runs requests up to the first that fails. It returns the ones that it did not run
// because they must not overtake others.
func (tx *Transaction) CarryOut(group []*Request) (stay []*Request, err error) {
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
		if err := r.Run(tx); err != nil {
			return nil, err
		}
	}
	return stay, nil
}

// touch notes that the row of a document changed, or that its claim ends; delivered says
// that a delivery did it.
func (tx *Transaction) touch(k report.Key, delivered bool) {
	tx.Touched[k] = tx.Touched[k] || delivered
	tx.Kinds[k.Kind] = struct{}{}
}
