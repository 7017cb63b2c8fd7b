package sqlite

import (
	"context"
	"fmt"

	"riskdex/journal/internal/commit"
)

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
