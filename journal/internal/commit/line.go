package commit

import "crypto/rand"

// A journal is born with an id of its line. All that comes of it has the same one:
// its backups, its copies in either engine, what is restored from them, the copy that
// takes its place after an I/O error. Each index says which line fills it, so that a
// journal that has nothing to do with an index is told apart from one that was restored.

// NewLine returns an id that no other line has.
func NewLine() string { return rand.Text() }
