package commit

import (
	"bytes"
	"errors"
	"fmt"

	"riskdex/report"
)

// ReceiptsDropped is how many old receipts are dropped with each new one: more than one, so
// that they do not pile up, and few, so that a delivery is not held up.
const ReceiptsDropped = 16

// repeats returns in before why a delivery must not be accepted: there is a receipt of its
// id already.
func (tx *Transaction) repeats(d report.Delivery) (before, err error) {
	r := d.Receipt
	if r == nil {
		return nil, nil
	}
	oldest := tx.Now.Add(-report.ReceiptsFor).UnixMicro()
	digest, answer, err := tx.Store.Receipt(r.Sender, r.ID, oldest)
	switch {
	case err != nil:
		return nil, fmt.Errorf("look for the receipt of the delivery %q: %w", r.ID, err)
	case bytes.Equal(digest, r.Digest):
		newest, err := tx.newest(d)
		return &report.RepeatedError{Answer: answer, Newest: newest}, err
	case digest != nil:
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
	err := tx.Store.DropReceipts(tx.Now.Add(-report.ReceiptsFor).UnixMicro())
	if err == nil {
		err = tx.Store.KeepReceipt(r, tx.Now.UnixMicro())
	}
	if err != nil {
		return fmt.Errorf("keep the receipt of the delivery %q: %w", r.ID, err)
	}
	return nil
}
