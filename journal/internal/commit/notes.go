package commit

import (
	"context"
	"fmt"

	"riskdex/report"
)

// NotePrefix begins the names of notes, which stand among the ids.
const NotePrefix = "note:"

// IsNote is the condition of a note among the ids.
const IsNote = ` FROM ids WHERE name LIKE '` + NotePrefix + `%'`

// NotesQuery and DropNotes are the statements of both engines for all notes.
const (
	NotesQuery = `SELECT name, value` + IsNote
	DropNotes  = `DELETE` + IsNote
)

// FollowedQuery is the statement of both engines for the note report.FollowedNote.
const FollowedQuery = `SELECT coalesce((SELECT value FROM ids WHERE name = '` + NotePrefix + report.FollowedNote + `'), '')`

// note stores a value under a name among the ids, in place of the one before.
func (tx *Transaction) note(name, value string) error {
	_, err := tx.Store.Exec(KeepNote, name, value)
	return err
}

// KeepNote is the statement of both engines that keeps a note.
const KeepNote = `INSERT INTO ids (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`

// note is the task of Note.
type note struct{ name, value string }

// Execute implements Task.
func (n note) Execute(tx *Transaction) error { return tx.note(n.name, n.value) }

// Note implements Journal.
func (j *Requests) Note(ctx context.Context, name, value string) error {
	err := j.queue.Do(ctx, &Request{Task: note{NotePrefix + name, value}, Sync: true})
	if err != nil {
		return fmt.Errorf("note %s in the journal: %w", name, err)
	}
	return nil
}
