package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"riskdex/report"
)

// A tombstone keeps what is older than a delete from coming back, and an index that comes
// back from showing what was deleted. So it is kept for as long as an index may be
// restored from a snapshot, and not for ever.
const (
	// tombstoneStep is how many tombstones one transaction looks at. It is no large
	// request, and deliveries go between two of them.
	tombstoneStep = largeRequest / 2
	// dropEvery is the time between two rounds, dropFirst that before the first.
	dropEvery = time.Hour
	dropFirst = time.Minute
	// dropPause is the time between two steps.
	dropPause = 20 * time.Millisecond
)

// DropDeleted implements Journal.
func (j *requests) DropDeleted(ctx context.Context) (sum int, err error) {
	if j.opt.KeepDeleted < 0 {
		return 0, nil
	}
	for _, kind := range report.AllKinds() {
		for after, first := (place{}), true; first || after != (place{}); first = false {
			if !first {
				if err := pause(ctx, dropPause); err != nil {
					return sum, err
				}
			}
			var n int
			var next place
			err := j.queue.do(ctx, &request{size: tombstoneStep, need: needDisk, run: func(tx *transaction) (err error) {
				n, next, err = tx.dropDeleted(kind, after, j.opt.KeepDeleted)
				return err
			}})
			if err != nil {
				return sum, fmt.Errorf("drop old tombstones of %s from the journal: %w", kind, err)
			}
			sum, after = sum+n, next
		}
	}
	return sum, nil
}

func (tx *transaction) dropDeleted(kind report.Kind, after place, keep time.Duration) (n int, next place, err error) {
	n, next, err = tx.store.dropDeleted(kind, after, tx.now.Add(-keep).UnixMicro(), tombstoneStep)
	tx.ledger.update(kind, func(t *totals) {
		t.tombstones -= int64(n)
		t.dropped += int64(n)
	})
	return n, next, err
}

// lookAfterDeleted drops old tombstones now and then, until ctx ends, and then calls
// after.
func (j *requests) lookAfterDeleted(ctx context.Context, after func(context.Context) error) {
	for wait := dropFirst; pause(ctx, wait) == nil; wait = dropEvery {
		n, err := j.DropDeleted(ctx)
		if err == nil {
			err = after(ctx)
		}
		switch {
		case err != nil && ctx.Err() == nil && !errors.Is(err, ErrClosed):
			j.opt.Log.Warn("old tombstones could not be dropped from the journal; it is tried again later", "error", err)
		case n > 0:
			j.opt.Log.Info("dropped old tombstones from the journal", "tombstones", n, "kept_for", j.opt.KeepDeleted)
		}
	}
}

// pause waits, and returns the error of ctx where that ends first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// removesOnly tells whether a delivery does nothing but delete documents: of one that is
// there the content goes, and of one that is not nothing must be left, no tombstone and no
// receipt. Past the limit of the journal that is all that is taken.
func (tx *transaction) removesOnly(d report.Delivery) (bool, error) {
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
		leavesNothing := isDeleted(old) && !tx.mustRemember() && d.Receipt == nil
		if !leavesNothing && (old == nil || old.op == report.Delete) {
			return false, nil
		}
	}
	return true, nil
}
