package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"riskdex/report"
)

// load reads the ledger.
func (e *engine) load(ctx context.Context) (ledger, error) {
	l := ledger{}
	var err error
	if l.totals, err = readTotals(ctx, e.write); err != nil {
		return l, fmt.Errorf("read the totals: %w", err)
	}
	if err := e.write.QueryRowContext(ctx, `SELECT value FROM meta WHERE name = 'last_version'`).Scan(&l.last); err != nil {
		return l, fmt.Errorf("read the last version: %w", nonsense(err))
	}
	if err := e.write.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(bytes), 0) FROM refusals`).
		Scan(&l.refusals, &l.refusalBytes); err != nil {
		return l, fmt.Errorf("count the refusals: %w", nonsense(err))
	}
	if err := e.write.QueryRowContext(ctx, `SELECT count(*) FROM traces`).Scan(&l.traces); err != nil {
		return l, fmt.Errorf("count the traces: %w", err)
	}
	if err := e.write.QueryRowContext(ctx, `SELECT `+lossColumns).Scan(l.loss.into()...); err != nil {
		return l, fmt.Errorf("read what it lacks: %w", nonsense(err))
	}
	e.traces.Store(l.traces)
	return l, nil
}

func readLine(ctx context.Context, conn *sql.Conn) (line string, err error) {
	err = conn.QueryRowContext(ctx, `SELECT value FROM ids WHERE name = 'line'`).Scan(&line)
	if err != nil {
		return "", fmt.Errorf("read the id of its line: %w", restoreHint(nonsense(err)))
	}
	return line, nil
}

const totalsColumns = `kind, indexes, deletes, indexed, deleted, superseded, dead, pending, resending, dead_letters, tombstones, tombstones_dropped`

// into is where a row of totalsColumns goes.
func (t *totals) into(k *report.Kind) []any {
	return []any{k, &t.indexes, &t.deletes, &t.indexed, &t.deleted, &t.superseded, &t.died, &t.pending, &t.resending, &t.deadLetters, &t.tombstones, &t.dropped}
}

func readTotals(ctx context.Context, conn *sql.Conn) (map[report.Kind]totals, error) {
	rows, err := conn.QueryContext(ctx, `SELECT `+totalsColumns+` FROM totals`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[report.Kind]totals{}
	for rows.Next() {
		var k report.Kind
		var t totals
		if err := rows.Scan(t.into(&k)...); err != nil {
			return nil, nonsense(err)
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

// statsQuery is all of it in one statement, for one moment. It is asked all the time,
// also while nothing else is going on.
const statsQuery = `SELECT ` + totalsColumns + `,
	(SELECT waiting_since FROM documents INDEXED BY documents_unsettled
		WHERE documents.kind = totals.kind AND state = 2 AND state <> 3 ORDER BY waiting_since LIMIT 1),
	(SELECT waiting_since FROM documents INDEXED BY documents_unsettled
		WHERE documents.kind = totals.kind AND state = 2 AND state <> 3 ORDER BY waiting_since DESC LIMIT 1),
	(` + usedPagesQuery + `),
	(SELECT count(*) FROM refusals),
	(SELECT json_group_object(substr(name, length('` + noteName + `') + 1), value) FROM ids WHERE name LIKE '` + noteName + `%'), ` + lossColumns + `
	FROM totals`

func (e *engine) stats(ctx context.Context) (Stats, error) {
	s := Stats{Kinds: map[report.Kind]KindStats{}, Processes: []string{ProcessName()}}
	rows, err := e.st.stats.QueryContext(ctx)
	if err != nil {
		return s, err
	}
	defer rows.Close()
	for rows.Next() {
		var k report.Kind
		var t totals
		var oldest, newest sql.NullInt64
		var pages int64
		var notes []byte
		var l loss
		if err := rows.Scan(append(append(t.into(&k), &oldest, &newest, &pages, &s.Refused, &notes), l.into()...)...); err != nil {
			return s, err
		}
		if err := json.Unmarshal(notes, &s.Notes); err != nil {
			return s, fmt.Errorf("read the notes: %w", err)
		}
		kind := t.stats()
		if oldest.Valid {
			kind.OldestWaiting = time.UnixMicro(oldest.Int64).UTC()
			kind.NewestWaiting = time.UnixMicro(newest.Int64).UTC()
		}
		s.Kinds[k], s.Used, s.Loss = kind, pages*pageSize, l.report()
	}
	return s, rows.Err()
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
	s.Bytes, s.WAL, s.Used, s.Limit = file+log, log, s.Used+log, max(j.opt.MaxBytes, 0)
	if s.Free, err = j.room.diskFree(filepath.Dir(j.path)); err != nil {
		s.Free = -1
	}
	return nil
}
