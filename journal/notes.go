package journal

import (
	"context"
	"fmt"
)

// Notes stand among the ids, under names that begin with this. A copy from one engine to
// the other does not have them.
const noteName = "note:"

// keepNote is a statement of both engines.
const keepNote = `INSERT INTO ids VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`

// Note implements Journal.
func (j *requests) Note(ctx context.Context, name, value string) error {
	err := j.queue.do(ctx, &request{sync: true, run: func(tx *transaction) error { return tx.store.note(noteName+name, value) }})
	if err != nil {
		return fmt.Errorf("note %s in the journal: %w", name, err)
	}
	return nil
}
