package commit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"riskdex/journal"
	"riskdex/report"
)

// A tombstone keeps anything older than a delete from coming back, and a restored index from
// showing what was deleted. So it is kept for as long as somebody may restore an index from
// a snapshot.
const (
	// TombstoneStep is how many tombstones one transaction looks at. It is not a large
	// request, so deliveries are accepted between two steps.
	TombstoneStep = LargeRequest / 2
	// dropEvery is the time between two rounds, dropFirst the time before the first.
	dropEvery = time.Hour
	dropFirst = time.Minute
	// DropPause is the time between two steps.
	DropPause = 20 * time.Millisecond
)

// DropDeleted implements Journal.
func (j *Requests) DropDeleted(ctx context.Context) (sum int, err error) {
	if j.opt.KeepDeleted < 0 {
		return 0, nil
	}
	for _, kind := range report.AllKinds() {
		for after, first := (Cursor{}), true; first || after != (Cursor{}); first = false {
			if !first {
				if err := Sleep(ctx, DropPause); err != nil {
					return sum, err
				}
			}
			t := &dropDeleted{kind: kind, after: after, keep: j.opt.KeepDeleted}
			if err := j.queue.Do(ctx, &Request{Task: t, Kind: kind, Size: TombstoneStep, Quota: DiskQuota}); err != nil {
				return sum, fmt.Errorf("drop old tombstones of %s from the journal: %w", kind, err)
			}
			sum, after = sum+t.dropped, t.next
		}
	}
	return sum, nil
}

// dropDeleted is the task of one step of DropDeleted.
type dropDeleted struct {
	kind  report.Kind
	after Cursor
	keep  time.Duration

	dropped int
	next    Cursor
}

// Execute implements Task.
func (d *dropDeleted) Execute(tx *Transaction) error {
	if err := tx.forget(); err != nil {
		return err
	}
	dropped, next, err := tx.Store.DropDeleted(d.kind, d.after, tx.Now.Add(-d.keep).UnixMicro(), TombstoneStep)
	d.dropped, d.next = len(dropped), next
	tx.ledger.update(d.kind, func(t *Totals) {
		t.Tombstones -= int64(len(dropped))
		t.Dropped += int64(len(dropped))
		for _, v := range dropped {
			t.DroppedVersion = max(t.DroppedVersion, v)
		}
	})
	if err == nil && len(dropped) > 0 && tx.mustRemember() {
		err = tx.forgetPlaces(slices.Max(dropped))
	}
	return err
}

// DropDeletedRegularly drops old tombstones of a journal now and then, until ctx ends. After
// each round it calls after.
func DropDeletedRegularly(ctx context.Context, j journal.Journal, opt journal.Options, after func(context.Context) error) {
	for wait := dropFirst; Sleep(ctx, wait) == nil; wait = dropEvery {
		n, err := j.DropDeleted(ctx)
		if err == nil {
			err = after(ctx)
		}
		switch {
		case err != nil && ctx.Err() == nil && !errors.Is(err, journal.ErrClosed):
			opt.Log.Warn("old tombstones could not be dropped from the journal; it is tried again later", "error", err)
		case n > 0:
			opt.Log.Info("dropped old tombstones from the journal", "tombstones", n, "kept_for", opt.KeepDeleted)
		}
	}
}

// Sleep waits for d. It returns the error of ctx when ctx ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// removesOnly reports whether a delivery only makes room: it deletes documents that are there,
// or leaves nothing behind, neither a tombstone nor a receipt. Past the limit of the journal
// only such deliveries are accepted.
func (tx *Transaction) removesOnly(d report.Delivery) (bool, error) {
	for _, c := range d.Changes {
		if c.Op != report.Delete {
			return false, nil
		}
		_, old, err := tx.resolve(c)
		if errors.Is(err, report.ErrAmbiguous) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		may, err := tx.mayBeIndexed(old)
		if err != nil {
			return false, err
		}
		leavesNothing := isDeleted(old) && !tx.mustRemember() && !may && d.Receipt == nil
		if !leavesNothing && (old == nil || old.Op == report.Delete) {
			return false, nil
		}
	}
	return len(d.Changes) > 0 || d.Receipt == nil, nil
}
