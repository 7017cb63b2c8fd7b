package commit

import "riskdex/report"

// Ledger is what the writer knows of the journal besides its documents. A transaction changes a copy.
type Ledger struct {
	LastVersion  report.Version         // the highest ever given out
	Totals       map[report.Kind]Totals // what the transaction adds to them
	Refusals     int                    // kept
	RefusalBytes int64                  // of those kept
	Loss         Loss                   // in a journal for one process
}

// DocumentBytes is the size that a document counts for in addition to its body.
const DocumentBytes = 500

// Totals are the sums of one kind, or what a transaction adds to them.
type Totals struct {
	Indexes, Deletes                   int64 // accepted
	Indexed, Deleted, Superseded, Died int64 // settled
	Pending, Resending, DeadLetters    int64 // as it is now
	Tombstones, Dropped                int64 // documents that are deleted, as it is now; and those that were dropped
	History, HistoryBytes              int64 // rows of the history, as it is now, and what they count for
	HistoryDropped                     int64 // rows that were dropped
	Bytes                              int64 // what the documents count for

	DroppedVersion report.Version // the highest of a tombstone that was dropped
}

// Begin is a copy for a transaction.
func (l Ledger) Begin() Ledger {
	l.Totals = map[report.Kind]Totals{}
	return l
}

// Update changes the totals of a kind.
func (l Ledger) Update(k report.Kind, f func(*Totals)) {
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

// count counts the size of a change and the tombstone that it makes, and no longer those of what it replaces.
func (t *Totals) count(c report.Change, old *Row) {
	t.Bytes += int64(len(c.Body))
	if old == nil {
		t.Bytes += DocumentBytes
	} else {
		t.Bytes -= old.Bytes
	}
	if old != nil && old.Op == report.Delete {
		t.Tombstones--
	}
	if c.Op == report.Delete {
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
