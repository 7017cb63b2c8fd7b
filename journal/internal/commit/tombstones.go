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
	var dropped []report.Version
	before, looked := tx.Now.Add(-d.keep).UnixMicro(), 0
	d.next = d.after
	err := tx.Store.Query(func(scan func(...any) error) error {
		var id []byte
		err := scan(&d.next.AcceptedAt, &id)
		d.next.ID, looked = report.ID(id), looked+1
		return err
	}, lookAtDeleted, string(d.kind), d.after.AcceptedAt, Text(d.after.ID), before)
	if err == nil {
		err = tx.Store.Query(func(scan func(...any) error) error {
			var v int64
			err := scan(&v)
			dropped = append(dropped, report.Version(v))
			return err
		}, dropDeletedRows, string(d.kind), d.after.AcceptedAt, Text(d.after.ID), before, d.next.AcceptedAt, Text(d.next.ID))
	}
	if looked < TombstoneStep {
		d.next = Cursor{}
	}
	d.dropped = len(dropped)
	tx.ledger.Update(d.kind, func(t *Totals) {
		t.Tombstones -= int64(len(dropped))
		t.Dropped += int64(len(dropped))
		t.Bytes -= DocumentBytes * int64(len(dropped))
		for _, v := range dropped {
			t.DroppedVersion = max(t.DroppedVersion, v)
		}
	})
	if err == nil && len(dropped) > 0 && tx.mustRemember() {
		err = tx.forgetPlaces(slices.Max(dropped))
	}
	return err
}

// What another process has locked is left for the next round.
var (
	settledDeletes  = ` FROM documents WHERE kind = $1 AND (accepted_at, id) > ($2, $3) AND accepted_at < $4 AND op = 'delete' AND state = {done}`
	lookAtDeleted   = fmt.Sprintf(`SELECT accepted_at, id`+settledDeletes+` ORDER BY accepted_at, id LIMIT %d`, TombstoneStep)
	dropDeletedRows = `DELETE FROM documents WHERE kind = $1 AND id IN
		(SELECT id` + settledDeletes + ` AND (accepted_at, id) <= ($5, $6) AND ended_at < $4 {and unclaimed} {skip locked}) RETURNING version`
)

// DropDeletedRegularly drops old tombstones now and then, until ctx ends. After each round it calls after.
func (j *Requests) DropDeletedRegularly(ctx context.Context, after func(context.Context) error) {
	for wait := dropFirst; Sleep(ctx, wait) == nil; wait = dropEvery {
		n, err := j.DropDeleted(ctx)
		if err == nil {
			err = after(ctx)
		}
		switch {
		case err != nil && ctx.Err() == nil && !errors.Is(err, journal.ErrClosed):
			j.opt.Log.Warn("old tombstones could not be dropped from the journal; it is tried again later", "error", err)
		case n > 0:
			j.opt.Log.Info("dropped old tombstones from the journal", "tombstones", n, "kept_for", j.opt.KeepDeleted)
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
