package journal

import (
	"fmt"
	"time"

	"riskdex/report"
)

// Bounds of what is kept of the reason of a dead letter, in bytes.
const (
	maxErrorType = 256
	maxReason    = 4 << 10
)

// settle ends changes. held has, for each, its claim as it was before the
// transaction, or the zero claim.
func (tx *transaction) settle(list []report.Settlement, held []claim) error {
	for i, s := range list {
		note, err := tx.settleOne(s, held[i])
		if err != nil {
			return fmt.Errorf("settle %s %q: %w", s.Kind, s.ID, err)
		}
		tx.touch(s.Key, false)
		tx.store.unclaim(note)
		tx.settled = append(tx.settled, note)
	}
	return nil
}

// settleOne goes by the version, not by what is claimed, so that settling twice, or
// after a restart, does no harm. Where another process has claimed the document
// since, what it says counts.
func (tx *transaction) settleOne(s report.Settlement, held claim) (settled, error) {
	note := settled{Settlement: s}
	ended, err := tx.store.endClaimed(s, held, tx.now.UnixMicro())
	if ended && err == nil {
		tx.countEnd(s, held.state)
		note.ends = true
	}
	if ended || err != nil {
		return note, err
	}
	r, err := tx.store.find(s.Key)
	if err != nil || r == nil || r.foreign {
		return note, err
	}
	waits := r.state == pending || r.state == resend
	switch {
	case s.Version == r.version && waits && s.Outcome == report.Retry:
		note.again = true
	case s.Version == r.version && waits:
		note.ends, err = true, tx.end(s, r)
	case s.Version < r.version && waits:
		note.newer, note.came = true, time.UnixMicro(r.acceptedAt)
		err = tx.refresh(s, r)
	}
	return note, err
}

// end settles the newest version of a document. A change that Resend marked was
// counted when it was settled first.
func (tx *transaction) end(s report.Settlement, r *row) error {
	tx.countEnd(s, r.state)
	at := tx.now.UnixMicro()
	if s.Outcome == report.Dead {
		return tx.store.setAside(r, at, clip(s.ErrorType, maxErrorType), clip(s.Reason, maxReason))
	}
	return tx.store.end(r, at)
}

// countEnd counts the end of a document that waited in a state.
func (tx *transaction) countEnd(s report.Settlement, state int64) {
	tx.ledger.update(s.Kind, func(t *totals) {
		if state == pending {
			t.settle(s.Outcome)
		} else {
			t.resending--
		}
		if s.Outcome == report.Dead {
			t.deadLetters++
		}
	})
}

// refresh notes that an overtaken version reached the index: what waits now is
// waiting since its own acceptance and not since that of the version before it.
// Otherwise a document that changes all the time would seem to lag ever more.
func (tx *transaction) refresh(s report.Settlement, r *row) error {
	if s.Outcome != report.Indexed && s.Outcome != report.Deleted || r.state != pending || r.waitedAt >= r.acceptedAt {
		return nil
	}
	return tx.store.wait(r, r.acceptedAt)
}

// setAsideDamaged makes a dead letter of a damaged record, and tells whether that
// or a newer version has ended its claim.
func (tx *transaction) setAsideDamaged(k report.Key, v report.Version) (bool, error) {
	r, err := tx.store.find(k)
	if err != nil || r == nil || r.state != pending && r.state != resend || r.version < v {
		return false, err
	}
	return true, tx.settle([]report.Settlement{{
		Key: k, Version: v, Outcome: report.Dead, ErrorType: ErrorTypeDamaged, Reason: damagedReason(k),
	}}, make([]claim, 1))
}

// resend marks a piece of a kind, or all of it, and returns where to go on.
func (tx *transaction) resend(kind report.Kind, after report.ID) (n int64, next report.ID, err error) {
	n, next, err = tx.store.markAll(kind, after)
	tx.marked(kind, n)
	return n, next, err
}

// resendDeleted marks the deletes of a kind since a time, in microseconds.
func (tx *transaction) resendDeleted(kind report.Kind, since int64) (int64, error) {
	n, err := tx.store.markDeleted(kind, since)
	tx.marked(kind, n)
	return n, err
}

func (tx *transaction) marked(kind report.Kind, n int64) {
	tx.ledger.update(kind, func(t *totals) { t.resending += n })
	tx.kinds[kind], tx.byKind = struct{}{}, true
	tx.wake = tx.wake || n > 0
}
