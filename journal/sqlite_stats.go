package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"riskdex/report"
)

// querier is a connection or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// load reads the ledger.
func (e *engine) load(ctx context.Context) (ledger, error) {
	l := ledger{}
	var err error
	if l.totals, err = readTotals(ctx, e.write); err != nil {
		return l, fmt.Errorf("read the totals: %w", err)
	}
	if err := e.write.QueryRowContext(ctx, `SELECT value FROM meta WHERE name = 'last_version'`).Scan(&l.last); err != nil {
		return l, fmt.Errorf("read the last version: %w", err)
	}
	if err := e.write.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(bytes), 0) FROM refusals`).
		Scan(&l.refusals, &l.refusalBytes); err != nil {
		return l, fmt.Errorf("count the refusals: %w", err)
	}
	if err := e.write.QueryRowContext(ctx, `SELECT count(*) FROM traces`).Scan(&l.traces); err != nil {
		return l, fmt.Errorf("count the traces: %w", err)
	}
	e.traces.Store(l.traces)
	return l, nil
}

func readTotals(ctx context.Context, q querier) (map[report.Kind]totals, error) {
	rows, err := q.QueryContext(ctx, `SELECT kind, indexes, deletes, indexed, deleted, superseded, dead,
		pending, resending, dead_letters FROM totals`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[report.Kind]totals{}
	for rows.Next() {
		var k report.Kind
		var t totals
		if err := rows.Scan(&k, &t.indexes, &t.deletes, &t.indexed, &t.deleted, &t.superseded, &t.died,
			&t.pending, &t.resending, &t.deadLetters); err != nil {
			return nil, err
		}
		all[k] = t
	}
	return all, rows.Err()
}

// Stats implements Journal.
func (j *SQLite) Stats(ctx context.Context) (Stats, error) {
	var s Stats
	err := j.read(func(e *engine) (err error) {
		s, err = e.stats(ctx)
		return err
	})
	if err == nil {
		err = j.roomStats(&s)
	}
	if err != nil {
		return Stats{}, fmt.Errorf("read the state of the journal: %w", err)
	}
	return s, nil
}

func (e *engine) stats(ctx context.Context) (Stats, error) {
	s := Stats{Kinds: map[report.Kind]KindStats{}}
	tx, err := e.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return s, err
	}
	defer tx.Rollback()
	all, err := readTotals(ctx, tx)
	if err != nil {
		return s, err
	}
	for _, k := range report.AllKinds() {
		kind := all[k].stats()
		if kind.OldestWaiting, err = oldestWaiting(ctx, tx, k); err != nil {
			return s, err
		}
		s.Kinds[k] = kind
	}
	if err := tx.QueryRowContext(ctx, usedPagesQuery).Scan(&s.Used); err != nil {
		return s, err
	}
	s.Used *= pageSize
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM refusals`).Scan(&s.Refused)
	return s, err
}

func oldestWaiting(ctx context.Context, q querier, k report.Kind) (time.Time, error) {
	var at int64
	err := q.QueryRowContext(ctx, `SELECT waiting_since FROM documents
		WHERE kind = ?1 AND state = 2 AND state <> 3 ORDER BY waiting_since LIMIT 1`, string(k)).Scan(&at)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, err
	}
	return time.UnixMicro(at).UTC(), nil
}

// roomStats adds what the database and its log take on disk, and what is left.
func (j *SQLite) roomStats(s *Stats) error {
	file, err := fileSize(j.path)
	if err != nil {
		return err
	}
	log, err := fileSize(j.path + "-wal")
	if err != nil {
		return err
	}
	s.Bytes, s.Used, s.Limit = file+log, s.Used+log, max(j.opt.MaxBytes, 0)
	if s.Free, err = j.room.diskFree(filepath.Dir(j.path)); err != nil {
		s.Free = -1
	}
	return nil
}
