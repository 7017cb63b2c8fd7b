package commit

import (
	"context"
	"fmt"
	"time"

	"riskdex/report"
)

// Resend implements Journal.
func (j *Requests) Resend(ctx context.Context, kind report.Kind, after report.ResendCursor) (marked int, next report.ResendCursor, err error) {
	t := &markAll{kind: kind, after: after, limit: j.hooks.Piece}
	if err := j.mark(ctx, kind, t); err != nil {
		return 0, "", err
	}
	return int(t.marked), t.next, nil
}

// ResendDeleted implements Journal.
func (j *Requests) ResendDeleted(ctx context.Context, kind report.Kind, since time.Time) (int, error) {
	t := &markDeleted{kind: kind, since: since.UnixMicro()}
	if err := j.mark(ctx, kind, t); err != nil {
		return 0, err
	}
	return int(t.marked), nil
}

func (j *Requests) mark(ctx context.Context, kind report.Kind, t Task) error {
	if err := report.CheckKind(kind); err != nil {
		return err
	}
	if err := j.queue.Do(ctx, &Request{Task: t, Kind: kind, Sync: true, Long: true}); err != nil {
		return fmt.Errorf("mark documents of %s to be sent again: %w", kind, err)
	}
	return nil
}

// markAll is the task of Resend: it marks a piece of a kind.
type markAll struct {
	kind  report.Kind
	after report.ResendCursor
	limit int

	marked int64
	next   report.ResendCursor
}

// Execute implements Task.
func (t *markAll) Execute(tx *Transaction) (err error) {
	t.marked, t.next, err = tx.Resend(t.kind, t.after, t.limit)
	return err
}

// markDeleted is the task of ResendDeleted: it marks the deletes of a kind since a time, in microseconds.
type markDeleted struct {
	kind  report.Kind
	since int64

	marked int64
}

// Execute implements Task.
func (t *markDeleted) Execute(tx *Transaction) (err error) {
	if err = tx.forget(); err != nil {
		return err
	}
	t.marked, err = tx.Store.MarkDeleted(t.kind, t.since)
	tx.marked(t.kind, t.marked)
	return err
}

// Resend marks a piece of a kind, and returns where to go on.
func (tx *Transaction) Resend(kind report.Kind, after report.ResendCursor, limit int) (n int64, next report.ResendCursor, err error) {
	if err := tx.forget(); err != nil {
		return 0, "", err
	}
	n, next, err = tx.Store.MarkAll(kind, after, limit)
	tx.marked(kind, n)
	return n, next, err
}

func (tx *Transaction) marked(kind report.Kind, n int64) {
	tx.ledger.update(kind, func(t *Totals) { t.Resending += n })
	tx.Kinds[kind], tx.ByKind = struct{}{}, true
	tx.Wake = tx.Wake || n > 0
}
