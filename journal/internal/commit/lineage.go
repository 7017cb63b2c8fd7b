package commit

import "crypto/rand"

// Every new journal gets a lineage id. Its backups, its copies in either engine, whatever is
// restored from them, and the file that replaces it after an I/O error keep that id. Each index
// records the lineage that fills it, so that a journal unrelated to an index can be told from a
// restored one. On disk and in JSON it is called line.

// NewLineageID returns the id of a new lineage.
func NewLineageID() string { return rand.Text() }
