package journal

import (
	"database/sql"
	"fmt"

	"riskdex/report"
)

// Bounds of what is kept of the reason of a dead letter, in bytes.
const (
	maxErrorType = 256
	maxReason    = 4 << 10
)

func (tx *transaction) settle(list []report.Settlement) error {
	for _, s := range list {
		note, err := tx.settleOne(s)
		if err != nil {
			return fmt.Errorf("settle %s %q: %w", s.Kind, s.ID, err)
		}
		tx.touched[s.Key] = struct{}{}
		tx.settled = append(tx.settled, note)
	}
	return nil
}

// settleOne goes by the version alone, not by what is claimed, so that settling
// twice, or after a restart, does no harm.
func (tx *transaction) settleOne(s report.Settlement) (settled, error) {
	note := settled{Settlement: s}
	r, err := tx.find(s.Key)
	if err != nil || r == nil {
		return note, err
	}
	waits := r.state == pending || r.state == resend
	switch {
	case s.Version == r.version && waits && s.Outcome == report.Retry:
		note.again = true
	case s.Version == r.version && waits:
		err = tx.end(s, r)
	case s.Version < r.version && waits:
		note.newer = true
		err = tx.refresh(s, r)
	}
	return note, err
}

// end settles the newest version of a document. A change that Resend marked was
// counted when it was settled first.
func (tx *transaction) end(s report.Settlement, r *row) (err error) {
	tx.ledger.update(s.Kind, func(t *totals) {
		if r.state == pending {
			t.settle(s.Outcome)
		} else {
			t.resending--
		}
		if s.Outcome == report.Dead {
			t.deadLetters++
		}
	})
	at := tx.now.UnixMicro()
	if s.Outcome == report.Dead {
		_, err = tx.st.setAside.ExecContext(tx.ctx, r.doc, at, clip(s.ErrorType, maxErrorType), clip(s.Reason, maxReason))
	} else {
		_, err = tx.st.end.ExecContext(tx.ctx, r.doc, done, at)
	}
	if err != nil {
		return err
	}
	return tx.dropTrace(r.doc)
}

// refresh notes that an overtaken version reached the index: what waits now is
// waiting since its own acceptance and not since that of the version before it.
// Otherwise a document that changes all the time would seem to lag ever more.
func (tx *transaction) refresh(s report.Settlement, r *row) error {
	if s.Outcome != report.Indexed && s.Outcome != report.Deleted || r.state != pending || r.waitedAt >= r.acceptedAt {
		return nil
	}
	_, err := tx.st.move.ExecContext(tx.ctx, r.doc, r.acceptedAt)
	return err
}

// setAsideDamaged makes a dead letter of a damaged record, and tells whether that
// or a newer version has ended its claim.
func (tx *transaction) setAsideDamaged(k report.Key, v report.Version) (bool, error) {
	r, err := tx.find(k)
	if err != nil || r == nil || r.state != pending && r.state != resend || r.version < v {
		return false, err
	}
	return true, tx.settle([]report.Settlement{{
		Key: k, Version: v, Outcome: report.Dead, ErrorType: ErrorTypeDamaged, Reason: damagedReason(k),
	}})
}

func (tx *transaction) resend(kind report.Kind, mark func(*transaction) (sql.Result, error)) (int, error) {
	result, err := mark(tx)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	if err != nil {
		return 0, err
	}
	tx.ledger.update(kind, func(t *totals) { t.resending += n })
	tx.wake = tx.wake || n > 0
	return int(n), nil
}
