package tables

import (
	"context"
	"fmt"
	"iter"

	"riskdex/journal"
	"riskdex/report"
)

// Bounds of what Records reads at a time. Nothing is under way at the server between two batches: a
// client may take its time for one.
const (
	recordsAhead      = 1000    // ids, with the sizes of their records
	recordsBatchBytes = 1 << 20 // of records; one that is larger comes alone
)

// Records implements Journal.
func (r *Reader) Records(ctx context.Context, kind report.Kind) iter.Seq2[report.Record, error] {
	return func(yield func(report.Record, error) bool) {
		if err := r.eachRecord(ctx, kind, yield); err != nil {
			yield(report.Record{}, fmt.Errorf("read the %s in the journal: %w", kind, err))
		}
	}
}

// eachRecord calls yield with every record until it returns false, or the journal closes.
func (r *Reader) eachRecord(ctx context.Context, kind report.Kind, yield func(report.Record, error) bool) (err error) {
	if err := report.CheckKind(kind); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.hooks.Open(), func() { cancel(journal.ErrClosed) })()
	more := true
	err = r.hooks.Long(ctx, func(q Querier, between func() error) error {
		for record, err := range r.recordsIn(ctx, q, kind, between) {
			if err != nil {
				return err
			}
			if more = yield(record, nil); !more {
				break
			}
		}
		return nil
	})
	switch {
	case !more:
		return nil
	case err != nil && context.Cause(ctx) != nil:
		return context.Cause(ctx)
	}
	return err
}

// recordsIn yields the newest record of every document of a kind that is not deleted. q sees one state
// of the journal. between is called before each batch, and its error ends the sequence.
func (r *Reader) recordsIn(ctx context.Context, q Querier, kind report.Kind, between func() error) iter.Seq2[report.Record, error] {
	return func(yield func(report.Record, error) bool) {
		v := view{r, ctx, q}
		heads, err := v.live(kind, "")
		for err == nil && len(heads) > 0 {
			n, bytes := 1, heads[0].bytes
			for n < len(heads) && bytes+heads[n].bytes <= recordsBatchBytes {
				bytes += heads[n].bytes
				n++
			}
			keys := make([]report.Key, n)
			for i := range keys {
				keys[i] = heads[i].Key
			}
			if err = between(); err == nil {
				err = report.AwaitMemory(ctx, bytes)
			}
			var batch []report.Record
			if err == nil {
				batch, err = v.recordsOf(keys, `op = 'index' AND id >= $2 AND id <= $3 ORDER BY id`, string(kind), r.engine.text(string(keys[0].ID)), r.engine.text(string(keys[n-1].ID)))
			}
			for _, found := range batch {
				if !yield(found, nil) {
					return
				}
			}
			if heads = heads[n:]; err == nil && len(heads) == 0 {
				heads, err = v.live(kind, keys[n-1].ID)
			}
		}
		if err != nil {
			yield(report.Record{}, err)
		}
	}
}

// live returns the next documents of a kind that are not deleted, in the order of their ids.
func (v view) live(kind report.Kind, after report.ID) ([]head, error) {
	return list(v, func(scan func(...any) error) (h head, err error) {
		h.Kind = kind
		err = scan((*Text)(&h.ID), &h.bytes)
		return h, err
	}, `SELECT id, `+Length+` FROM documents WHERE kind = $1 AND id > $2 AND op = 'index' ORDER BY id LIMIT $3`, string(kind), v.engine.text(string(after)), recordsAhead)
}
