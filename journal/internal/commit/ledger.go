package commit

import (
	"maps"

	"riskdex/report"
)

// Ledger is what the writer knows of the journal besides its documents. In SQLite a transaction works
// on a copy, which replaces the original once it is committed; in PostgreSQL it begins at zero, and what
// the transaction adds is added to the table.
type Ledger struct {
	LastVersion  report.Version // the highest ever given out
	Totals       map[report.Kind]Totals
	Refusals     int   // kept
	RefusalBytes int64 // of those kept
	Loss         Loss  // in a journal for one process
}

// Totals are the sums of one kind, or what a transaction adds to them.
type Totals struct {
	Indexes, Deletes                   int64 // accepted
	Indexed, Deleted, Superseded, Died int64 // settled
	Pending, Resending, DeadLetters    int64 // as it is now
	Tombstones, Dropped                int64 // documents that are deleted, as it is now; and those that were dropped
	History, HistoryBytes              int64 // rows of the history, as it is now, and what they count for
	HistoryDropped                     int64 // rows that were dropped

	DroppedVersion report.Version // the highest of a tombstone that was dropped
}

// Clone is a copy that may be changed.
func (l Ledger) Clone() Ledger {
	l.Totals = maps.Clone(l.Totals)
	return l
}

// update changes the totals of a kind.
func (l Ledger) update(k report.Kind, f func(*Totals)) {
	t := l.Totals[k]
	f(&t)
	l.Totals[k] = t
}

// settle counts the end of a pending change.
func (t *Totals) settle(o report.Outcome) {
	t.Pending--
	switch o {
	case report.Indexed:
		t.Indexed++
	case report.Deleted:
		t.Deleted++
	case report.Superseded:
		t.Superseded++
	case report.Dead:
		t.Died++
	}
}

// leave takes back what a document counted for in the given state, because a
// newer version replaces it.
func (t *Totals) leave(state int64) {
	switch state {
	case StatePending:
		t.settle(report.Superseded)
	case StateDead:
		t.DeadLetters--
	case StateResend:
		t.Resending--
	}
}

func (t *Totals) accept(op report.Op) {
	t.Pending++
	if op == report.Delete {
		t.Deletes++
	} else {
		t.Indexes++
	}
}

// count adds the tombstone that a change makes, and takes off the one that it replaces.
func (t *Totals) count(op report.Op, old *Row) {
	if old != nil && old.Op == report.Delete {
		t.Tombstones--
	}
	if op == report.Delete {
		t.Tombstones++
	}
}

// Stats are the totals as the interface has them.
func (t Totals) Stats() report.KindStats {
	return report.KindStats{
		Accepted: map[report.Op]uint64{
			report.Index:  uint64(t.Indexes),
			report.Delete: uint64(t.Deletes),
		},
		Settled: map[report.Outcome]uint64{
			report.Indexed:    uint64(t.Indexed),
			report.Deleted:    uint64(t.Deleted),
			report.Superseded: uint64(t.Superseded),
			report.Dead:       uint64(t.Died),
		},
		Pending:     int(t.Pending),
		Resending:   int(t.Resending),
		DeadLetters: int(t.DeadLetters),
		Tombstones:  int(t.Tombstones),
		Dropped:     uint64(t.Dropped),

		History:        int(t.History),
		HistoryBytes:   t.HistoryBytes,
		HistoryDropped: uint64(t.HistoryDropped),
	}
}
