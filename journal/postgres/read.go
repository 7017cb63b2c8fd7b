package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// read has f read from the database, unless the journal is closed. what says what it is
// about.
func (j *Journal) read(what string, f func() error) error {
	err := j.closed()
	if err == nil {
		err = f()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Stats implements Journal.
func (j *Journal) Stats(ctx context.Context) (s report.Stats, err error) {
	err = j.read("read the state of the journal", func() error {
		return j.inSnapshot(ctx, func(tx pgx.Tx) (err error) {
			s, err = j.readStats(ctx, tx)
			return err
		})
	})
	if err == nil {
		s.Bytes, s.Used, err = tableBytes(ctx, j.pool)
		s.History.Keep, s.History.MaxBytes = max(j.opt.History, 0), j.opt.HistoryMaxBytes
		s.Limit, s.Free = max(j.opt.MaxBytes, 0), -1
	}
	return s, err
}

func (j *Journal) readStats(ctx context.Context, tx pgx.Tx) (report.Stats, error) {
	s := report.Stats{Kinds: map[report.Kind]report.KindStats{}}
	b := &pgx.Batch{}
	for _, k := range report.AllKinds() {
		s.Kinds[k] = commit.Totals{}.Stats()
	}
	b.Queue(sumTotals).Query(func(rows pgx.Rows) error {
		all, err := collectTotals(rows)
		for k, t := range all {
			s.Kinds[k] = t.Stats()
		}
		return err
	})
	b.Queue("SELECT "+serverTime("$1"), j.clock.now()).QueryRow(func(r pgx.Row) error {
		var now int64
		err := r.Scan(&now)
		s.Now = commit.FromMicro(now)
		return err
	})
	b.Queue("SELECT count(*) FROM refusals").QueryRow(func(r pgx.Row) error { return r.Scan(&s.Refused) })
	b.Queue("SELECT kind, count(DISTINCT id) FROM refusals WHERE id <> '' GROUP BY kind").Query(func(rows pgx.Rows) error {
		var k string
		var n int
		_, err := pgx.ForEachRow(rows, []any{&k, &n}, func() error {
			if kind, ok := s.Kinds[report.Kind(k)]; ok {
				kind.RefusedDocuments = n
				s.Kinds[report.Kind(k)] = kind
			}
			return nil
		})
		return err
	})
	b.Queue("SELECT coalesce(json_object_agg(substr(name, length('" + commit.NotePrefix + "') + 1), value), '{}') FROM ids WHERE name LIKE '" + commit.NotePrefix + "%'").
		QueryRow(func(r pgx.Row) error { return r.Scan(&s.Notes) })
	b.Queue("SELECT coalesce((SELECT at FROM history ORDER BY version LIMIT 1), 0)").QueryRow(func(r pgx.Row) error {
		var since int64
		err := r.Scan(&since)
		if since > 0 {
			s.History.Since = commit.FromMicro(since)
		}
		return err
	})
	b.Queue("SELECT " + commit.LossColumns).QueryRow(func(r pgx.Row) error {
		var l commit.Loss
		err := r.Scan(l.ScanTargets()...)
		s.Loss = l.Report()
		return err
	})
	for _, k := range report.AllKinds() {
		b.Queue(commit.SQL(unsettledQuery), string(k)).QueryRow(func(r pgx.Row) error {
			var oldest, newest *int64
			kind := s.Kinds[k]
			err := r.Scan(&oldest, &newest, &kind.DroppedLetters)
			if oldest != nil {
				kind.OldestWaiting, kind.NewestWaiting = time.UnixMicro(*oldest).UTC(), time.UnixMicro(*newest).UTC()
			}
			s.Kinds[k] = kind
			return err
		})
	}
	// Who asks is alive, whenever it last said so.
	b.Queue("SELECT name FROM processes WHERE id = $1 OR alive_until >= "+serverTime("$2")+" ORDER BY id", j.member.me.Load(), j.clock.now()).
		Query(func(rows pgx.Rows) (err error) {
			s.Processes, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
	b.Queue("SELECT h.kind, p.name FROM holds h JOIN processes p ON p.id = h.holder").Query(func(rows pgx.Rows) error {
		var k, name string
		_, err := pgx.ForEachRow(rows, []any{&k, &name}, func() error {
			kind := s.Kinds[report.Kind(k)]
			kind.Holder = name
			s.Kinds[report.Kind(k)] = kind
			return nil
		})
		return err
	})
	return s, tx.SendBatch(ctx, b).Close()
}

const unsettledQuery = `SELECT (SELECT waiting_since FROM documents WHERE kind = $1 AND state = {pending} ORDER BY waiting_since LIMIT 1),
	(SELECT waiting_since FROM documents WHERE kind = $1 AND state = {pending} ORDER BY waiting_since DESC LIMIT 1),
	(SELECT count(*) FROM documents WHERE kind = $1 AND state = {dropped})`

const sumTotals = `SELECT kind, sum(indexes)::bigint, sum(deletes)::bigint, sum(indexed)::bigint, sum(deleted)::bigint,
	sum(superseded)::bigint, sum(dead)::bigint, sum(pending)::bigint, sum(resending)::bigint, sum(dead_letters)::bigint,
	sum(tombstones)::bigint, sum(tombstones_dropped)::bigint, sum(history)::bigint, sum(history_bytes)::bigint, sum(history_dropped)::bigint, max(dropped_version)
	FROM totals GROUP BY kind`

// collectTotals reads what sumTotals finds, and closes it.
func collectTotals(rows pgx.Rows) (map[report.Kind]commit.Totals, error) {
	all := map[report.Kind]commit.Totals{}
	var kind string
	var t commit.Totals
	_, err := pgx.ForEachRow(rows, []any{&kind, &t.Indexes, &t.Deletes, &t.Indexed, &t.Deleted, &t.Superseded, &t.Died, &t.Pending, &t.Resending, &t.DeadLetters,
		&t.Tombstones, &t.Dropped, &t.History, &t.HistoryBytes, &t.HistoryDropped, &t.DroppedVersion}, func() error {
		all[report.Kind(kind)] = t
		return nil
	})
	return all, err
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

// Entries implements Journal.
func (j *Journal) Entries(ctx context.Context, kind report.Kind, after report.ID, limit int) ([]report.Entry, error) {
	return j.entries(ctx, kind, fmt.Sprintf("list the %s in the journal after %q", kind, after),
		"id > $2 ORDER BY id LIMIT $3", []byte(after), max(limit, 0))
}

// Lookup implements Journal.
func (j *Journal) Lookup(ctx context.Context, kind report.Kind, ids []report.ID) ([]report.Entry, error) {
	list := make([][]byte, len(ids))
	for i, id := range ids {
		list[i] = []byte(id)
	}
	return j.entries(ctx, kind, fmt.Sprintf("look up %d %s in the journal", len(ids), kind), "id = ANY($2)", list)
}

func (j *Journal) entries(ctx context.Context, kind report.Kind, what, which string, args ...any) (list []report.Entry, err error) {
	if err := report.CheckKind(kind); err != nil {
		return nil, err
	}
	err = j.read(what, func() error {
		rows, err := j.pool.Query(ctx, "SELECT id, version, op, state FROM documents WHERE kind = $1 AND "+which, append([]any{string(kind)}, args...)...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (e report.Entry, err error) {
			var id []byte
			var op string
			var state int16
			err = r.Scan(&id, &e.Version, &op, &state)
			e.Key, e.Op, e.State = report.Key{Kind: kind, ID: report.ID(id)}, report.Op(op), commit.StateName(int64(state))
			return e, err
		})
		return err
	})
	return list, err
}

// readContents implements commit.Hooks.Contents.
func (j *Journal) readContents(ctx context.Context, stamps []report.Stamp) (list []commit.Content, rest []report.Stamp, err error) {
	err = j.read("read documents", func() error {
		size := 0
		for i, s := range stamps {
			if len(list) == commit.MaxBatch || size > commit.MaxGroupBytes {
				rest = stamps[i:]
				return nil
			}
			row := j.pool.QueryRow(ctx, "SELECT "+contentColumns+" FROM documents WHERE kind = $1 AND id = $2 AND version = $3",
				string(s.Kind), []byte(s.ID), int64(s.Version))
			c, intact, err := scanContent(row)
			if errors.Is(err, pgx.ErrNoRows) {
				continue
			}
			if err != nil {
				return fmt.Errorf("read %s %q: %w", s.Kind, s.ID, err)
			}
			list = append(list, commit.Content{Change: c, Intact: intact})
			size += len(c.Body)
		}
		return nil
	})
	return list, rest, err
}

const letterColumns = contentColumns + `, ended_at, error_type, reason, coalesce(length(body), 0)`

// DeadLetters implements Journal.
func (j *Journal) DeadLetters(ctx context.Context, kind report.Kind, after report.ID, limit int) (list []report.DeadLetter, err error) {
	if err := report.CheckKind(kind); err != nil {
		return nil, err
	}
	err = j.read(fmt.Sprintf("list the dead letters of %s in the journal after %q", kind, after), func() error {
		rows, err := j.pool.Query(ctx, commit.SQL(`SELECT kind, id, version, op, code, accepted_at, crc, NULL::bytea, ended_at, error_type, reason, coalesce(length(body), 0)
			FROM documents WHERE kind = $1 AND state = {dead} AND id > $2 ORDER BY id LIMIT $3`), string(kind), []byte(after), max(limit, 0))
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (report.DeadLetter, error) {
			l, _, err := scanLetter(r)
			return l, err
		})
		return err
	})
	return list, err
}

// DeadLetter implements Journal.
func (j *Journal) DeadLetter(ctx context.Context, key report.Key) (l report.DeadLetter, err error) {
	err = j.read(fmt.Sprintf("read the dead letter of %s %q in the journal", key.Kind, key.ID), func() error {
		if err := commit.CheckKey(key); err != nil {
			return err
		}
		return j.inSnapshot(ctx, func(tx pgx.Tx) error {
			l, err = readLetter(ctx, tx, key)
			return err
		})
	})
	if err != nil {
		return report.DeadLetter{}, err
	}
	return l, nil
}

func readLetter(ctx context.Context, tx pgx.Tx, key report.Key) (report.DeadLetter, error) {
	dead := commit.SQL(" FROM documents WHERE kind = $1 AND id = $2 AND state = {dead}")
	err := tryMemory(ctx, tx, "SELECT coalesce(length(body), 0)"+dead, string(key.Kind), []byte(key.ID))
	if errors.Is(err, pgx.ErrNoRows) {
		err = report.ErrNotFound
	}
	if err != nil {
		return report.DeadLetter{}, err
	}
	l, intact, err := scanLetter(tx.QueryRow(ctx, "SELECT "+letterColumns+dead, string(key.Kind), []byte(key.ID)))
	if err == nil && !intact {
		l.Body, l.ErrorType, l.Reason = nil, report.ErrorTypeDamaged, commit.DamagedReason(key)
	}
	return l, err
}

func scanLetter(r pgx.Row) (l report.DeadLetter, intact bool, err error) {
	var ended, size int64
	var errorType, reason []byte
	l.Change, intact, err = scanContent(r, &ended, &errorType, &reason, &size)
	l.Bytes, l.DeadAt, l.ErrorType, l.Reason = int(size), time.UnixMicro(ended).UTC(), string(errorType), string(reason)
	return l, intact, err
}

const refusalColumns = `seq, at, kind, method, path, position, id, reason, detail, cut, coalesce(length(body), 0), crc`

// Refusals implements Journal.
func (j *Journal) Refusals(ctx context.Context, before int64, limit int) (list []report.Refusal, err error) {
	if before == 0 {
		before = math.MaxInt64
	}
	err = j.read("read the refusals kept in the journal", func() error {
		rows, err := j.pool.Query(ctx, "SELECT "+refusalColumns+", NULL::bytea FROM refusals WHERE seq < $1 ORDER BY seq DESC LIMIT $2", before, max(limit, 0))
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (report.Refusal, error) {
			refusal, _, err := scanRefusal(r)
			return refusal, err
		})
		return err
	})
	return list, err
}

// Refusal implements Journal.
func (j *Journal) Refusal(ctx context.Context, seq int64) (r report.Refusal, err error) {
	err = j.read(fmt.Sprintf("read the refusal %d in the journal", seq), func() error {
		return j.inSnapshot(ctx, func(tx pgx.Tx) error {
			err := tryMemory(ctx, tx, "SELECT coalesce(length(body), 0) FROM refusals WHERE seq = $1", seq)
			if errors.Is(err, pgx.ErrNoRows) {
				return report.ErrNotFound
			}
			var crc uint32
			if err == nil {
				r, crc, err = scanRefusal(tx.QueryRow(ctx, "SELECT "+refusalColumns+", body FROM refusals WHERE seq = $1", seq))
			}
			if err == nil && crc != commit.RefusalChecksum(r) {
				r.Body, r.Bytes, r.Cut = nil, 0, true
				r.Detail += commit.LostBody
			}
			return err
		})
	})
	return r, err
}

func scanRefusal(row pgx.Row) (r report.Refusal, sum uint32, err error) {
	var at, crc int64
	var kind string
	var method, path, id, reason, detail []byte
	err = row.Scan(&r.Seq, &at, &kind, &method, &path, &r.Position, &id, &reason, &detail, &r.Cut, &r.Bytes, &crc, &r.Body)
	r.At, r.Kind = time.UnixMicro(at).UTC(), report.Kind(kind)
	r.Method, r.Path, r.ID, r.Reason, r.Detail = string(method), string(path), string(id), string(reason), string(detail)
	return r, uint32(crc), err
}

// Documents implements Journal.
func (j *Journal) Documents(ctx context.Context, kind report.Kind) (n int, err error) {
	if err := report.CheckKind(kind); err != nil {
		return 0, err
	}
	err = j.read("count the "+string(kind)+" in the journal", func() error {
		return j.pool.QueryRow(ctx, commit.CountQuery("$1"), string(kind)).Scan(&n)
	})
	return n, err
}
