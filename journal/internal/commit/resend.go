package commit

import (
	"context"
	"fmt"
	"time"

	"riskdex/report"
)

// Resend implements Journal.
func (j *Requests) Resend(ctx context.Context, kind report.Kind, after report.ResendCursor) (marked int, next report.ResendCursor, err error) {
	t := &Resend{Kind: kind, After: after, Limit: j.hooks.Piece}
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

// Resend is the task of marking a piece of a kind.
type Resend struct {
	Kind  report.Kind
	After report.ResendCursor
	Limit int

	marked int64
	next   report.ResendCursor // where to go on
}

// Execute implements Task.
func (t *Resend) Execute(tx *Transaction) (err error) {
	if err = tx.forget(); err != nil {
		return err
	}
	t.marked, t.next, err = tx.Store.MarkAll(t.Kind, t.After, t.Limit)
	tx.marked(t.Kind, t.marked)
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
	t.marked, err = tx.Store.Exec(`UPDATE documents SET state = {resend} WHERE kind = $1 AND id IN
		(SELECT id FROM documents WHERE kind = $1 AND accepted_at >= $2 AND op = 'delete' AND state = {done} {lock})`, string(t.kind), t.since)
	tx.marked(t.kind, t.marked)
	return err
}

// marked notes that documents of a kind were marked.
func (tx *Transaction) marked(kind report.Kind, n int64) {
	tx.ledger.Update(kind, func(t *Totals) { t.Resending += n })
	tx.Kinds[kind], tx.ByKind = struct{}{}, true
	tx.Wake = tx.Wake || n > 0
}
