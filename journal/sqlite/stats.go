package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// load reads the ledger.
func (e *engine) load(ctx context.Context) (commit.Ledger, error) {
	l := commit.Ledger{}
	var err error
	if l.Totals, err = readTotals(ctx, e.write); err != nil {
		return l, fmt.Errorf("read the totals: %w", err)
	}
	if err := e.write.QueryRowContext(ctx, `SELECT value FROM meta WHERE name = 'last_version'`).Scan(&l.LastVersion); err != nil {
		return l, fmt.Errorf("read the last version: %w", nonsense(err))
	}
	if err := e.write.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(bytes), 0) FROM refusals`).
		Scan(&l.Refusals, &l.RefusalBytes); err != nil {
		return l, fmt.Errorf("count the refusals: %w", nonsense(err))
	}
	if err := e.write.QueryRowContext(ctx, `SELECT `+commit.LossColumns).Scan(l.Loss.ScanTargets()...); err != nil {
		return l, fmt.Errorf("read what it lacks: %w", nonsense(err))
	}
	return l, nil
}

func readLineage(ctx context.Context, conn *sql.Conn) (line string, err error) {
	err = conn.QueryRowContext(ctx, `SELECT value FROM ids WHERE name = 'line'`).Scan(&line)
	if err != nil {
		return "", fmt.Errorf("read its lineage: %w", restoreHint(nonsense(err)))
	}
	return line, nil
}

func readTotals(ctx context.Context, conn *sql.Conn) (map[report.Kind]commit.Totals, error) {
	rows, err := conn.QueryContext(ctx, tables.SumTotals)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[report.Kind]commit.Totals{}
	for rows.Next() {
		var k report.Kind
		var t commit.Totals
		if err := rows.Scan(append([]any{&k}, tables.TotalsTargets(&t)...)...); err != nil {
			return nil, nonsense(err)
		}
		all[k] = t
	}
	return all, rows.Err()
}

// Stats implements Journal.
func (j *Journal) Stats(ctx context.Context) (report.Stats, error) {
	var s report.Stats
	err := j.read(func(e *engine) (err error) {
		s, err = e.stats(ctx)
		return err
	})
	if err == nil {
		err = j.diskStats(&s)
	}
	if err != nil {
		return report.Stats{}, fmt.Errorf("read the state of the journal: %w", err)
	}
	return s, nil
}

// statsQuery is all of it in one statement, for one moment. It is asked all the time,
// also while nothing else is going on.
var statsQuery = `SELECT kind, ` + tables.EachTotal("@", "@", 0) + `,
	(SELECT waiting_since FROM documents INDEXED BY documents_unsettled
		WHERE documents.kind = totals.kind AND state = {pending} AND state <> {done} ORDER BY waiting_since LIMIT 1),
	(SELECT waiting_since FROM documents INDEXED BY documents_unsettled
		WHERE documents.kind = totals.kind AND state = {pending} AND state <> {done} ORDER BY waiting_since DESC LIMIT 1),
	(` + usedPagesQuery + `),
	(SELECT count(*) FROM refusals),
	(SELECT count(*) FROM documents INDEXED BY documents_unsettled WHERE documents.kind = totals.kind AND state = {dropped} AND state <> {done}),
	(SELECT count(DISTINCT id) FROM refusals INDEXED BY refusals_document WHERE refusals.kind = totals.kind AND id > ''),
	(SELECT coalesce(at, 0) FROM history ORDER BY version LIMIT 1),
	(SELECT json_group_object(substr(name, length('` + commit.NotePrefix + `') + 1), value) FROM ids WHERE name LIKE '` + commit.NotePrefix + `%'), ` + commit.LossColumns + `
	FROM totals`

func (e *engine) stats(ctx context.Context) (report.Stats, error) {
	s := report.Stats{Kinds: map[report.Kind]report.KindStats{}, Processes: []string{journal.ProcessName()}}
	rows, err := e.st.stats.QueryContext(ctx)
	if err != nil {
		return s, err
	}
	defer rows.Close()
	for rows.Next() {
		var k report.Kind
		var t commit.Totals
		var oldest, newest sql.NullInt64
		var pages, dropped, refused int64
		var since sql.NullInt64
		var notes []byte
		var l commit.Loss
		if err := rows.Scan(append(append(append([]any{&k}, tables.TotalsTargets(&t)...), &oldest, &newest, &pages, &s.Refused, &dropped, &refused, &since, &notes), l.ScanTargets()...)...); err != nil {
			return s, err
		}
		if err := json.Unmarshal(notes, &s.Notes); err != nil {
			return s, fmt.Errorf("read the notes: %w", err)
		}
		if since.Valid {
			s.History.Since = commit.FromMicro(since.Int64)
		}
		kind := t.Stats()
		kind.DroppedLetters, kind.RefusedDocuments = int(dropped), int(refused)
		if oldest.Valid {
			kind.OldestWaiting = time.UnixMicro(oldest.Int64).UTC()
			kind.NewestWaiting = time.UnixMicro(newest.Int64).UTC()
		}
		s.Kinds[k], s.Used, s.Loss = kind, pages*pageSize, l.Report()
	}
	return s, rows.Err()
}

// diskStats adds what the database and its WAL take on disk, and what is left.
func (j *Journal) diskStats(s *report.Stats) error {
	file, err := fileSize(j.path)
	if err != nil {
		return err
	}
	wal, err := fileSize(j.path + "-wal")
	if err != nil {
		return err
	}
	s.Now = j.opt.Now().UTC()
	s.History.Keep, s.History.MaxBytes = max(j.opt.History, 0), j.opt.HistoryMaxBytes
	s.Bytes, s.WAL, s.Used, s.Limit = file+wal, wal, s.Used+wal, max(j.opt.MaxBytes, 0)
	if s.Free, err = j.quota.diskFree(filepath.Dir(j.path)); err != nil {
		s.Free = -1
	}
	return nil
}

// Documents implements Journal.
func (j *Journal) Documents(ctx context.Context, kind report.Kind) (n int, err error) {
	if err := report.CheckKind(kind); err != nil {
		return 0, err
	}
	err = j.read(func(e *engine) error {
		return e.readers.QueryRowContext(ctx, commit.CountQuery("?1"), string(kind)).Scan(&n)
	})
	if err != nil {
		return 0, fmt.Errorf("count the %s in the journal: %w", kind, err)
	}
	return n, nil
}
