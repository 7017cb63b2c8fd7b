package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// reader returns what only reads. It uses the connections of the pool.
func (j *Journal) reader() *tables.Reader {
	return tables.NewReader(tables.Postgres, tables.Hooks{
		Read: func(f func(tables.Querier) error) error {
			if err := j.closed(); err != nil {
				return err
			}
			return f(j.db)
		},
		Snapshot:  j.inSnapshot,
		Long:      j.inLongSnapshot,
		Open:      func() context.Context { return j.open },
		IsCorrupt: func(error) bool { return false },
	})
}

// inSnapshot calls f in a transaction that only reads, and sees the journal as it is in one moment.
func (j *Journal) inSnapshot(ctx context.Context, f func(*sql.Tx) error) error {
	return report.WithinMemory(ctx, func() error {
		if err := j.closed(); err != nil {
			return err
		}
		tx, err := j.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		return f(tx)
	})
}

// statsQuery also selects the time, the processes that are alive, and which kinds they hold. Who asks is
// alive, whenever it last said so.
var statsQuery = tables.StatsQuery(tables.Postgres, serverTime("$1"),
	"(SELECT coalesce(json_agg(name ORDER BY id), '[]') FROM processes WHERE id = $2 OR alive_until >= "+serverTime("$1")+")",
	"(SELECT coalesce(json_object_agg(h.kind, p.name), '{}') FROM holds h JOIN processes p ON p.id = h.holder)")

// Stats implements Journal.
func (j *Journal) Stats(ctx context.Context) (s report.Stats, err error) {
	if err := j.closed(); err != nil {
		return s, fmt.Errorf("read the state of the journal: %w", err)
	}
	var now int64
	var processes, holders []byte
	var of map[report.Kind]string
	rows, err := j.db.QueryContext(ctx, statsQuery, j.clock.now(), j.member.me.Load())
	if s, err = tables.ReadStats(rows, err, &now, &processes, &holders); err == nil {
		err = json.Unmarshal(processes, &s.Processes)
	}
	if err == nil {
		err = json.Unmarshal(holders, &of)
	}
	if err == nil {
		s.Bytes, s.Used, err = tableBytes(ctx, j.pool)
	}
	if err != nil {
		return s, fmt.Errorf("read the state of the journal: %w", err)
	}
	for k, name := range of {
		kind := s.Kinds[k]
		kind.Holder = name
		s.Kinds[k] = kind
	}
	s.Now = commit.FromMicro(now)
	s.History.Keep, s.History.MaxBytes = max(j.opt.History, 0), j.opt.HistoryMaxBytes
	s.Limit, s.Free = max(j.opt.MaxBytes, 0), -1
	return s, nil
}

// tableBytes returns what the tables take on disk, with their indexes, and how much of that is used. The
// server does not say how much is free in a table that has shrunk, so the records are summed. They may
// be compressed, so no more is used than the tables take.
func tableBytes(ctx context.Context, pool *pgxpool.Pool) (all, used int64, err error) {
	err = pool.QueryRow(ctx, `SELECT receipts + others, receipts + least(others, records) FROM (SELECT pg_total_relation_size('receipts') AS receipts,
		pg_total_relation_size('documents') + pg_total_relation_size('refusals') + pg_total_relation_size('history') AS others,
		(SELECT coalesce(sum(bytes + history_bytes), 0) FROM totals)::bigint + (SELECT refusal_bytes FROM meta) AS records) AS sizes`).Scan(&all, &used)
	return all, used, err
}

// snapshotIdle is how long the server keeps the snapshot of Records between two batches. It
// is longer than the admin listener waits for a client.
const snapshotIdle = "90s"

// inLongSnapshot is inSnapshot for as long as a client reads.
func (j *Journal) inLongSnapshot(ctx context.Context, f func(q tables.Querier, between func() error) error) error {
	return j.inSnapshot(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "SET LOCAL idle_in_transaction_session_timeout = '"+snapshotIdle+"'"); err != nil {
			return err
		}
		return f(tx, func() error { return nil })
	})
}
