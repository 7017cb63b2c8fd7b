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
	var old []int64
	looked := 0
	if err := s.forRows(func(scan func(...any) error) error {
		var doc, version, ended tables.Int
		looked++
		err := scan(&doc, (*tables.Text)(&next.ID), &version, (*tables.Int)(&next.AcceptedAt), &ended)
		if int64(ended) < before {
			old, dropped = append(old, int64(doc)), append(dropped, report.Version(version))
		}
		return err
	}, oldDeleted, string(kind), after.AcceptedAt, string(after.ID), before); err != nil {
		return nil, commit.Cursor{}, err
	}
	if looked < limit {
		next = commit.Cursor{}
	}
	for _, doc := range old {
		if _, err := s.exec(`DELETE FROM documents WHERE doc = ?`, doc); err != nil {
			return nil, commit.Cursor{}, err
		}
	}
	return dropped, next, nil
}

var oldDeleted = fmt.Sprintf(`SELECT doc, id, version, accepted_at, ended_at FROM documents INDEXED BY documents_deleted
	WHERE kind = ?1 AND (accepted_at, id) > (?2, ?3) AND accepted_at < ?4 AND op = 'delete' AND state = {done}
	ORDER BY accepted_at, id LIMIT %d`, commit.TombstoneStep)

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
	for t := (vacuum{j: j, more: true}); t.more; {
		if err := j.queue.Do(ctx, &commit.Request{Task: &t, Size: commit.TombstoneStep, Quota: commit.DiskQuota}); err != nil {
			return fmt.Errorf("give free pages of the journal back to the disk: %w", err)
		}
		if err := commit.Sleep(ctx, commit.DropPause); err != nil {
			return err
		}
	}
	return nil
}

// vacuum is the task of one step of giveBack.
type vacuum struct {
	j *Journal

	more bool
}

// Execute implements commit.Task.
func (v *vacuum) Execute(*commit.Transaction) (err error) {
	v.more, err = v.j.e.vacuumStep()
	return err
}

// vacuumStep reports whether it is to be called again.
func (e *engine) vacuumStep() (more bool, err error) {
	var pages, free, left int64
	if err := e.write.row(`SELECT page_count, freelist_count FROM pragma_page_count, pragma_freelist_count`)(&pages, &free); err != nil || free < 2*vacuumPages || free*vacuumFrom < pages {
		return false, err
	}
	// Each row is a page.
	if err := e.write.forRows(func(func(...any) error) error { return nil }, fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, vacuumPages)); err != nil {
		return false, err
	}
	err = e.write.row(`SELECT freelist_count FROM pragma_freelist_count`)(&left)
	return left < free, err
}
