package journal

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"

	"riskdex/report"
)

// receiptsDropped is how many old receipts are dropped with each new one: more
// than one, so that they do not pile up, and few, so that nobody waits for it.
const receiptsDropped = 16

// receive keeps the receipt of a delivery, if it has one. before says that there
// is one already, and that the delivery must not be taken.
func (tx *transaction) receive(r *report.Receipt) (before, err error) {
	if r == nil {
		return nil, nil
	}
	oldest := tx.now.Add(-report.ReceiptsFor).UnixMicro()
	var digest, answer []byte
	err = tx.st.receipt.QueryRowContext(tx.ctx, r.Sender, r.ID, oldest).Scan(&digest, &answer)
	switch {
	case err == nil && bytes.Equal(digest, r.Digest):
		return &report.RepeatedError{Answer: answer}, nil
	case err == nil:
		return report.ErrIDReused, nil
	case !errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("look for the receipt of the delivery %q: %w", r.ID, err)
	}
	if _, err = tx.st.dropReceipts.ExecContext(tx.ctx, oldest, receiptsDropped); err == nil {
		_, err = tx.st.keepReceipt.ExecContext(tx.ctx, r.Sender, r.ID, tx.now.UnixMicro(), r.Digest, notNull(r.Answer))
	}
	if err != nil {
		return nil, fmt.Errorf("keep the receipt of the delivery %q: %w", r.ID, err)
	}
	return nil, nil
}

// notNull has SQLite store no bytes as such, and not as NULL.
func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
