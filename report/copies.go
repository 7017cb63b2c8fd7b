package report

import (
	"crypto/rand"
	"strings"
)

// CopiesNote is the name of the note that tells a journal from its copies: ids, separated by spaces.
// The first is its own. The others are those of the journals that it is a copy of, the nearest
// first. A copy gets an id where it is made, or where a database finds itself elsewhere, and a
// take-over gives one. A backup is the journal at an earlier time, and has its id, as has a file that
// was copied by hand.
const CopiesNote = "copies"

// maxCopies bounds the ids in a note.
const maxCopies = 20

// CopiesIn returns the ids of a journal; none if it has no note.
func CopiesIn(notes map[string]string) []string { return strings.Fields(notes[CopiesNote]) }

// NewCopy returns the note of a journal that is a copy of one with the note before, which is empty
// for a journal that is new.
func NewCopy(before string) string {
	ids := append([]string{rand.Text()}, strings.Fields(before)...)
	return strings.Join(ids[:min(len(ids), maxCopies)], " ")
}
