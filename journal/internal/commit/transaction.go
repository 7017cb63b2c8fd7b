package commit

import (
	"time"

	"riskdex/report"
)

// Transaction executes the requests of a group. Each request sees the effects of the earlier ones.
// Its methods are the rules of a journal; its Store has the rows. Only one goroutine may use it.
type Transaction struct {
	resolver
	*Rows
	Store   Store
	Now     time.Time
	ledger  *Ledger                  // a copy, valid once committed
	Touched map[report.Key]bool      // documents whose row changed or whose claim ends; true if a delivery did it
	Kinds   map[report.Kind]struct{} // kinds of Touched, and of documents that were marked all at once
	ByKind  bool                     // documents were marked all at once
	Settled []Settled
	Wake    bool // changes may become claimable

	Delivered [][]report.Stamp // of each delivery

	Growth  *Growth        // nil if no history is kept; set before the first request
	source  report.Source  // of the request that is carried out
	adopted report.Version // Stamp.Adopted of the change that is accepted

	displaced int64 // refusals that can no longer be retried
	lost      Loss  // with what this transaction has added to it
}

// NewTransaction returns a transaction over s at the time now. It changes l, so pass a copy.
func NewTransaction(s Store, now time.Time, l *Ledger) *Transaction {
	rows := newRows(s)
	return &Transaction{
		resolver: resolver{rows}, Rows: rows, Store: s, Now: now, ledger: l, Touched: map[report.Key]bool{}, Kinds: map[report.Kind]struct{}{},
	}
}

// Execute executes requests until one fails.
func (tx *Transaction) Execute(group []*Request) error {
	if err := tx.expect(group); err != nil {
		return err
	}
	for _, r := range group {
		if r.Task == nil {
			continue
		}
		if err := r.Task.Execute(tx); err != nil {
			return err
		}
	}
	return nil
}

// touch notes that the row of a document changed, or that its claim ends; delivered says
// that a delivery did it.
func (tx *Transaction) touch(k report.Key, delivered bool) {
	tx.Touched[k] = tx.Touched[k] || delivered
	tx.Kinds[k.Kind] = struct{}{}
}
