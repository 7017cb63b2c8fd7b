package commit

import (
	"context"
	"errors"
	"fmt"

	"riskdex/report"
)

// RetryDead implements Journal.
func (j *Requests) RetryDead(ctx context.Context, letters []report.Stamp) (int, error) {
	n, err := j.forEach(ctx, letters, DiskQuota, (*Transaction).RetryDead)
	if err != nil {
		return n, fmt.Errorf("retry %d dead letters of the journal: %w", len(letters), err)
	}
	return n, nil
}

// DropDead implements Journal.
func (j *Requests) DropDead(ctx context.Context, letters []report.Stamp) (int, error) {
	n, err := j.forEach(ctx, letters, NoQuota, (*Transaction).dropDead)
	if err != nil {
		return n, fmt.Errorf("drop %d dead letters of the journal: %w", len(letters), err)
	}
	return n, nil
}

// ReplaceDead implements Journal.
func (j *Requests) ReplaceDead(ctx context.Context, letter report.Stamp, c report.Change) (report.Stamp, error) {
	err := checkChange(c)
	if err == nil && c.Key != letter.Key {
		err = errors.New("it is for another document")
	}
	t := &replacement{letter: letter, by: c}
	if err == nil {
		d := report.Delivery{Changes: []report.Change{c}}
		err = j.queue.Do(ctx, &Request{Task: t, Kind: c.Kind, Keys: []report.Key{c.Key}, Bytes: len(c.Body), Sync: true, Quota: quotaOf(d)})
	}
	if err != nil {
		return report.Stamp{}, fmt.Errorf("replace the dead letter of %s %q in the journal: %w", letter.Kind, letter.ID, err)
	}
	return t.stamp, nil
}

// replacement is the task of ReplaceDead.
type replacement struct {
	letter report.Stamp
	by     report.Change

	stamp report.Stamp
}

// Execute implements Task.
func (t *replacement) Execute(tx *Transaction) error {
	r, err := tx.Find(t.letter.Key)
	if err != nil {
		return err
	}
	if r == nil || r.Version != t.letter.Version || r.State != StateDead {
		return report.ErrNotFound
	}
	if err := tx.checkHeld(r.Version); err != nil {
		return err
	}
	tx.source = report.Source{Call: sourceReplaceDead}
	c := t.by
	n, _, err := tx.nameCity(&c, c.ID, r, 0)
	if err == nil { // what was refused since the dead one was delivered stays newer
		err = tx.put(&c, n, r.originOf(), r)
	}
	t.stamp = report.Stamp{Key: c.Key, Version: c.Version}
	return err
}

// RetryDead accepts a dead letter as a new change. It is no newer delivery: what was
// refused since stays newer.
func (tx *Transaction) RetryDead(c Content, r *Row) (bool, error) {
	if r.State != StateDead || !c.Intact {
		return false, nil
	}
	if err := tx.checkHeld(r.Version); err != nil {
		return false, err
	}
	tx.source = report.Source{Call: sourceRetryDead}
	err := tx.put(&c.Change, r.Naming, r.originOf(), r)
	return err == nil, err
}

// dropDead gives a dead letter up. A checksum that did not fit must not begin to.
func (tx *Transaction) dropDead(c Content, r *Row) (bool, error) {
	if r.State != StateDead {
		return false, nil
	}
	if c.Intact {
		c.Body = nil
		r.CRC = int64(Checksum(c.Change))
	}
	tx.ledger.Update(c.Kind, func(t *Totals) {
		t.leave(StateDead)
		t.Bytes -= r.Bytes
	})
	tx.touch(c.Key, false)
	r.drop(tx.Now.UnixMicro())
	tx.change(r)
	return true, nil
}
