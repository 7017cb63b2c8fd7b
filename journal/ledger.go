package journal

import (
	"maps"

	"riskdex/report"
)

// ledger is what the writer knows of the journal besides its documents. A
// transaction works on a copy, which replaces the original once it is committed.
type ledger struct {
	last         report.Version // the highest ever given out
	totals       map[report.Kind]totals
	refusals     int   // kept
	refusalBytes int64 // of those kept
	traces       int64 // kept
	loss         loss  // when it was opened
}

// totals are the sums of one kind.
type totals struct {
	indexes, deletes                   int64 // accepted
	indexed, deleted, superseded, died int64 // settled
	pending, resending, deadLetters    int64 // as it is now
	tombstones, dropped                int64 // documents that are deleted, as it is now; and those that were dropped
}

func (l ledger) clone() ledger {
	l.totals = maps.Clone(l.totals)
	return l
}

// update changes the totals of a kind.
func (l ledger) update(k report.Kind, f func(*totals)) {
	t := l.totals[k]
	f(&t)
	l.totals[k] = t
}

// settle counts the end of a pending change.
func (t *totals) settle(o report.Outcome) {
	t.pending--
	switch o {
	case report.Indexed:
		t.indexed++
	case report.Deleted:
		t.deleted++
	case report.Superseded:
		t.superseded++
	case report.Dead:
		t.died++
	}
}

// leave takes back what a document counted for in the given state, because a
// newer version replaces it.
func (t *totals) leave(state int64) {
	switch state {
	case pending:
		t.settle(report.Superseded)
	case dead:
		t.deadLetters--
	case resend:
		t.resending--
	}
}

func (t *totals) accept(op report.Op) {
	t.pending++
	if op == report.Delete {
		t.deletes++
	} else {
		t.indexes++
	}
}

// count counts the tombstone that a change makes, and no longer the one that it replaces.
func (t *totals) count(op report.Op, old *row) {
	if old != nil && old.op == report.Delete {
		t.tombstones--
	}
	if op == report.Delete {
		t.tombstones++
	}
}

func (t totals) stats() KindStats {
	return KindStats{
		Accepted: map[report.Op]uint64{
			report.Index:  uint64(t.indexes),
			report.Delete: uint64(t.deletes),
		},
		Settled: map[report.Outcome]uint64{
			report.Indexed:    uint64(t.indexed),
			report.Deleted:    uint64(t.deleted),
			report.Superseded: uint64(t.superseded),
			report.Dead:       uint64(t.died),
		},
		Pending:     int(t.pending),
		Resending:   int(t.resending),
		DeadLetters: int(t.deadLetters),
		Tombstones:  int(t.tombstones),
		Dropped:     uint64(t.dropped),
	}
}
