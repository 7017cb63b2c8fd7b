package commit

import (
	"bytes"
	"errors"
	"fmt"

	"riskdex/report"
)

// dropReceipts drops a few old receipts with each new one: more than one, so that they do not pile up, and
// few, so that a delivery is not held up. KeepReceipt keeps none where another process has done so meanwhile.
const (
	dropReceipts = `DELETE FROM receipts WHERE (sender, id) IN
		(SELECT sender, id FROM receipts WHERE at < $1 ORDER BY at LIMIT 16 {skip locked})`
	KeepReceipt = `INSERT INTO receipts (sender, id, at, digest, answer) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (sender, id) DO UPDATE SET at = excluded.at, digest = excluded.digest, answer = excluded.answer WHERE receipts.at < $6`
)

// repeats returns in before why a delivery must not be accepted: there is a receipt of its
// id already.
func (tx *Transaction) repeats(d report.Delivery) (before, err error) {
	r := d.Receipt
	if r == nil {
		return nil, nil
	}
	oldest := tx.Now.Add(-report.ReceiptsFor).UnixMicro()
	var digest, answer []byte
	found, err := one(tx.Store, []any{&digest, &answer}, `SELECT digest, answer FROM receipts WHERE sender = $1 AND id = $2 AND at >= $3`, Text(r.Sender), Text(r.ID), oldest)
	switch {
	case err != nil:
		return nil, fmt.Errorf("look for the receipt of the delivery %q: %w", r.ID, err)
	case found && bytes.Equal(digest, r.Digest):
		newest, err := tx.newest(d)
		return &report.RepeatedError{Answer: answer, Newest: newest}, err
	case found:
		return report.ErrIDReused, nil
	}
	return nil, nil
}

// newest returns what Receipt.Newest asks for.
func (tx *Transaction) newest(d report.Delivery) (stamps []report.Stamp, err error) {
	if !d.Receipt.Newest {
		return nil, nil
	}
	for _, c := range d.Changes {
		key, row, err := tx.resolve(c)
		switch {
		case errors.Is(err, report.ErrAmbiguous):
		case err != nil:
			return nil, fmt.Errorf("look for %s %q of a repeated delivery: %w", c.Kind, c.ID, err)
		case row == nil:
			stamps = append(stamps, report.Stamp{Key: key, Effect: report.Unknown})
		default:
			stamps = append(stamps, report.Stamp{Key: key, Version: row.Version})
		}
	}
	return stamps, nil
}

// receive keeps the receipt of a delivery, if it has one. It is called once the stamps of its
// changes are known.
func (tx *Transaction) receive(d report.Delivery, stamps []report.Stamp) error {
	if d.Receipt == nil {
		return nil
	}
	r := *d.Receipt
	if r.Answers != nil {
		r.Answer = r.Answers(stamps)
	}
	oldest, kept := tx.Now.Add(-report.ReceiptsFor).UnixMicro(), int64(0)
	_, err := tx.Store.Exec(dropReceipts, oldest)
	if err == nil {
		// Without an answer, its bytes are none, and not NULL.
		kept, err = tx.Store.Exec(KeepReceipt, Text(r.Sender), Text(r.ID), tx.Now.UnixMicro(), r.Digest, append([]byte{}, r.Answer...), oldest)
	}
	if err == nil && kept == 0 { // the transaction is run again, and finds it
		err = ErrMeanwhile
	}
	if err != nil {
		return fmt.Errorf("keep the receipt of the delivery %q: %w", r.ID, err)
	}
	return nil
}
