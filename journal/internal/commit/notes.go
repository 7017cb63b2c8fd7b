package commit

import (
	"context"
	"fmt"
)

// NotePrefix begins the names of notes, which stand among the ids. A copy from one engine
// to the other has only those of losses.
const NotePrefix = "note:"

// KeepNote is the statement of both engines that keeps a note.
const KeepNote = `INSERT INTO ids VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`

// Note implements Journal.
func (j *Requests) Note(ctx context.Context, name, value string) error {
	err := j.queue.Do(ctx, &Request{Sync: true, Run: func(tx *Transaction) error { return tx.Store.Note(NotePrefix+name, value) }})
	if err != nil {
		return fmt.Errorf("note %s in the journal: %w", name, err)
	}
	return nil
}
