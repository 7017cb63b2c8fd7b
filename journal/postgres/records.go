package postgres

import (
	"context"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// Bounds of what Records reads at a time. Nothing is under way at the server between two
// batches: a client may take its time for one.
const (
	recordsAhead      = 1000    // ids, with the sizes of their records
	recordsBatchBytes = 1 << 20 // of records; one that is larger comes alone
)

// snapshotIdle is how long the server keeps the snapshot of Records between two batches. It
// is longer than the admin listener waits for a client.
const snapshotIdle = "90s"

// Records implements Journal.
func (j *Journal) Records(ctx context.Context, kind report.Kind) iter.Seq2[report.Record, error] {
	return func(yield func(report.Record, error) bool) {
		more := true
		err := j.read(fmt.Sprintf("read the %s in the journal", kind), func() error {
			return j.eachRecord(ctx, kind, func(r report.Record) bool {
				more = yield(r, nil)
				return more
			})
		})
		if err != nil && more {
			yield(report.Record{}, err)
		}
	}
}

// eachRecord calls f with every record until f returns false.
func (j *Journal) eachRecord(ctx context.Context, kind report.Kind, f func(report.Record) bool) (err error) {
	if err := report.CheckKind(kind); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(j.open, func() { cancel(journal.ErrClosed) })()
	defer func() {
		if err != nil && context.Cause(ctx) != nil {
			err = context.Cause(ctx)
		}
	}()
	return j.inSnapshot(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL idle_in_transaction_session_timeout = '"+snapshotIdle+"'"); err != nil {
			return err
		}
		for after := []byte(nil); ; {
			ids, sizes, err := recordsAfter(ctx, tx, kind, after)
			if err != nil || len(ids) == 0 {
				return err
			}
			after = ids[len(ids)-1]
			for len(ids) > 0 {
				n, bytes := 1, sizes[0]
				for n < len(ids) && bytes+sizes[n] <= recordsBatchBytes {
					bytes += sizes[n]
					n++
				}
				if err := report.AwaitMemory(ctx, bytes); err != nil {
					return err
				}
				batch, err := recordsOf(ctx, tx, kind, ids[:n])
				if err != nil {
					return err
				}
				for _, r := range batch {
					if !f(r) {
						return nil
					}
				}
				ids, sizes = ids[n:], sizes[n:]
			}
		}
	})
}

// recordsAfter returns the next ids, in order, and how long their records are.
func recordsAfter(ctx context.Context, tx pgx.Tx, kind report.Kind, after []byte) (ids [][]byte, sizes []int64, err error) {
	rows, err := tx.Query(ctx, "SELECT id, coalesce(length(body), 0) FROM documents WHERE kind = $1 AND id > $2 AND op = 'index' ORDER BY id LIMIT $3",
		string(kind), append([]byte{}, after...), recordsAhead)
	if err != nil {
		return nil, nil, err
	}
	var id []byte
	var size int64
	_, err = pgx.ForEachRow(rows, []any{&id, &size}, func() error {
		ids, sizes = append(ids, id), append(sizes, size)
		return nil
	})
	return ids, sizes, err
}

func recordsOf(ctx context.Context, tx pgx.Tx, kind report.Kind, ids [][]byte) ([]report.Record, error) {
	rows, err := tx.Query(ctx, "SELECT "+contentColumns+", state, kept FROM documents WHERE kind = $1 AND id = ANY($2) ORDER BY id", string(kind), ids)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (report.Record, error) {
		var state int16
		var kept int64
		c, intact, err := scanContent(row, &state, &kept)
		return commit.RecordOf(c, int64(state), intact, kept), err
	})
}
