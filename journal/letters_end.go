package journal

import (
	"context"
	"errors"
	"fmt"

	"riskdex/report"
)

// RetryDead implements Journal.
func (j *requests) RetryDead(ctx context.Context, letters []report.Stamp) (int, error) {
	n, err := j.forEach(ctx, letters, needDisk, (*transaction).retryDead)
	if err != nil {
		return n, fmt.Errorf("retry %d dead letters of the journal: %w", len(letters), err)
	}
	return n, nil
}

// DropDead implements Journal.
func (j *requests) DropDead(ctx context.Context, letters []report.Stamp) (int, error) {
	n, err := j.forEach(ctx, letters, needNothing, (*transaction).dropDead)
	if err != nil {
		return n, fmt.Errorf("drop %d dead letters of the journal: %w", len(letters), err)
	}
	return n, nil
}

// ReplaceDead implements Journal.
func (j *requests) ReplaceDead(ctx context.Context, letter report.Stamp, c report.Change) (report.Stamp, error) {
	err := checkChange(c)
	if err == nil && c.Key != letter.Key {
		err = errors.New("it is for another document")
	}
	var stamp report.Stamp
	if err == nil {
		d := report.Delivery{Changes: []report.Change{c}}
		err = j.queue.do(ctx, &request{keys: []report.Key{c.Key}, bytes: len(c.Body), sync: true, need: needOf(d), run: func(tx *transaction) (err error) {
			stamp, err = tx.replaceDead(letter, c)
			return err
		}})
	}
	if err != nil {
		return report.Stamp{}, fmt.Errorf("replace the dead letter of %s %q in the journal: %w", letter.Kind, letter.ID, err)
	}
	return stamp, nil
}

// retryDead accepts a dead letter as a new change. It is no newer delivery: what was
// refused since stays newer.
func (tx *transaction) retryDead(c content, r *row) (bool, error) {
	if r.state != dead || !c.intact {
		return false, nil
	}
	origin, err := tx.origin(r)
	if err == nil {
		err = tx.put(&c.Change, r.naming, r)
	}
	if err == nil {
		err = tx.store.keepOrigin(c.Key, origin)
	}
	return err == nil, err
}

func (tx *transaction) replaceDead(s report.Stamp, c report.Change) (report.Stamp, error) {
	r, err := tx.store.find(s.Key)
	if err != nil {
		return report.Stamp{}, err
	}
	if r == nil || r.version != s.Version || r.state != dead {
		return report.Stamp{}, ErrNotFound
	}
	n, _, err := tx.call(&c, c.ID, r, 0)
	if err == nil {
		err = tx.put(&c, n, r)
	}
	return report.Stamp{Key: c.Key, Version: c.Version}, err
}

// dropDead gives a dead letter up. A checksum that did not fit must not begin to.
func (tx *transaction) dropDead(c content, r *row) (bool, error) {
	if r.state != dead {
		return false, nil
	}
	var crc *uint32
	if c.intact {
		c.Body = nil
		crc = new(checksum(c.Change))
	}
	tx.ledger.update(c.Kind, func(t *totals) { t.leave(dead) })
	tx.touch(c.Key, false)
	return true, tx.store.drop(r, tx.now.UnixMicro(), crc)
}
