package sqlite

import (
	"context"
	"fmt"

	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

// Tombstones implements commit.Store.
func (s *store) Tombstones(kind report.Kind) (int64, error) {
	return s.ledger.Totals[kind].Tombstones, nil
}

// DropDeleted implements commit.Store.
func (s *store) DropDeleted(kind report.Kind, after commit.Cursor, before int64, limit int) (dropped []report.Version, next commit.Cursor, err error) {
	s.forget()
	var old []int64
	looked := 0
	rows, err := s.st.oldDeleted.QueryContext(s.ctx, string(kind), after.AcceptedAt, string(after.ID), before)
	if err := tables.ForRows(rows, err, func(scan func(...any) error) error {
		var doc, version, ended tables.Int
		looked++
		err := scan(&doc, (*tables.Text)(&next.ID), &version, (*tables.Int)(&next.AcceptedAt), &ended)
		if int64(ended) < before {
			old, dropped = append(old, int64(doc)), append(dropped, report.Version(version))
		}
		return err
	}); err != nil {
		return nil, commit.Cursor{}, err
	}
	if looked < limit {
		next = commit.Cursor{}
	}
	for _, doc := range old {
		if err := s.exec(s.st.dropDeleted, doc); err != nil {
			return nil, commit.Cursor{}, err
		}
	}
	return dropped, next, nil
}

const (
	// vacuumPages is how many pages one transaction gives back: 1 MiB.
	vacuumPages = 256
	// vacuumFrom is the part of the file that may be free before some of it is given
	// back: what is free is used before the file grows.
	vacuumFrom = 4
)

// giveBack gives free pages of the file back to the disk, in steps between which
// deliveries are taken.
func (j *Journal) giveBack(ctx context.Context) error {
	for more := true; more; {
		if err := j.queue.Do(ctx, &commit.Request{Size: commit.TombstoneStep, Quota: commit.DiskQuota, Run: func(*commit.Transaction) (err error) {
			more, err = j.e.vacuumStep()
			return err
		}}); err != nil {
			return fmt.Errorf("give free pages of the journal back to the disk: %w", err)
		}
		if err := commit.Sleep(ctx, commit.DropPause); err != nil {
			return err
		}
	}
	return nil
}

// vacuumStep is called by the writer, in a transaction. It reports whether it is to be
// called again.
func (e *engine) vacuumStep() (more bool, err error) {
	ctx := context.Background()
	var pages, free, left int64
	read := func(into *int64) error {
		return e.write.QueryRowContext(ctx, "SELECT freelist_count FROM pragma_freelist_count").Scan(into)
	}
	if err := e.write.QueryRowContext(ctx, "SELECT page_count FROM pragma_page_count").Scan(&pages); err != nil {
		return false, err
	}
	if err := read(&free); err != nil || free < 2*vacuumPages || free*vacuumFrom < pages {
		return false, err
	}
	rows, err := e.st.vacuum.QueryContext(ctx) // each row is a page
	if err != nil {
		return false, err
	}
	for rows.Next() {
	}
	if err := rows.Err(); err != nil {
		return false, err
	}
	if err := rows.Close(); err != nil {
		return false, err
	}
	err = read(&left)
	return left < free, err
}
