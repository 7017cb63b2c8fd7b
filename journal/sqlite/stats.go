package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"

	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// load reads the ledger.
func (e *engine) load(ctx context.Context) (commit.Ledger, error) {
	l := commit.Ledger{}
	if _, err := tables.ReadTotals(ctx, e.write.Conn); err != nil {
		return l, fmt.Errorf("read the totals: %w", nonsense(err))
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

// Stats implements Journal.
func (j *Journal) Stats(ctx context.Context) (s report.Stats, err error) {
	var pages int64
	err = j.read(func(e *engine) error {
		rows, err := e.stats.QueryContext(ctx)
		s, err = tables.ReadStats(rows, err, &pages)
		return err
	})
	if err == nil {
		s.Processes, s.Used = []string{journal.ProcessName()}, pages*pageSize
		err = j.diskStats(&s)
	}
	if err != nil {
		return report.Stats{}, fmt.Errorf("read the state of the journal: %w", err)
	}
	return s, nil
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
	s.MinFree = max(j.opt.MinFree, 0)
	if s.Free, err = j.quota.diskFree(filepath.Dir(j.path)); err != nil {
		s.Free = -1
	}
	return nil
}
