package journal

import (
	"fmt"

	"riskdex/report"
)

// append takes a delivery. Refusals get versions as well, in the order of the
// records, so that it is known for each what was accepted before it and what after.
func (tx *transaction) append(d report.Delivery, opt Options) ([]report.Stamp, error) {
	turn, err := tx.beginRetry(d.RetryOf)
	if err != nil {
		return nil, err
	}
	stamps := make([]report.Stamp, 0, len(d.Changes))
	turns := make([]report.Version, 0, len(d.Refusals))
	for i, c := range d.Changes {
		for n := len(turns); err == nil && n < len(d.Refusals) && comesBefore(d.Refusals[n], i+n); n++ {
			turns, err = tx.appendTurn(turns, turn)
		}
		if err != nil {
			return nil, err
		}
		s, err := tx.accept(c, turn)
		if err != nil {
			return nil, fmt.Errorf("write %s %q: %w", c.Kind, c.ID, err)
		}
		stamps = append(stamps, s)
	}
	for len(turns) < len(d.Refusals) {
		if turns, err = tx.appendTurn(turns, turn); err != nil {
			return nil, err
		}
	}
	return stamps, tx.refuse(d.Refusals, turns, opt)
}

// comesBefore tells whether a refused record stands before the record at a position
// of the delivery.
func comesBefore(r report.Refusal, position int) bool {
	return r.Position >= 0 && r.Position <= position
}

// accept writes a change and clears the refusals that it makes obsolete. turn is
// the version that a refusal had, where this is its retry, and otherwise 0. A change
// that would overtake something newer is left out.
func (tx *transaction) accept(c report.Change, turn report.Version) (report.Stamp, error) {
	addressed := c.ID
	key, old, err := tx.resolve(c)
	if err != nil {
		return report.Stamp{}, err
	}
	if c.ExactID {
		turn = beforeAll
	}
	if turn != 0 && old != nil {
		origin, err := tx.origin(old)
		if err != nil || origin > turn {
			return report.Stamp{Key: key}, err
		}
	}
	c.Key = key
	if err := tx.put(&c, old); err != nil {
		return report.Stamp{}, err
	}
	if turn == 0 {
		turn = c.Version
	} else if err := tx.store.keepOrigin(key, turn); err != nil {
		return report.Stamp{}, err
	}
	return report.Stamp{Key: key, Version: c.Version}, tx.clearRefusals(c, addressed, turn)
}

// put writes a change over the row that its document has, if any, and gives it
// its version. A document that already waits goes on waiting since then; a code
// that the new body does not state stays, since a later path may carry it.
func (tx *transaction) put(c *report.Change, old *row) (err error) {
	if c.Version, err = tx.store.nextVersion(); err != nil {
		return err
	}
	c.AcceptedAt = tx.now
	if old != nil && c.Code == "" {
		c.Code = old.code
	}
	waiting := tx.now.UnixMicro()
	if old != nil && old.state == pending {
		waiting = old.waitedAt
	}
	tx.ledger.update(c.Kind, func(t *totals) {
		if old != nil {
			t.leave(old.state)
		}
		t.accept(c.Op)
	})
	tx.touch(c.Key, true)
	tx.wake = true
	return tx.store.put(*c, waiting, old)
}
