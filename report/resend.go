package report

// ResendCursor is where a journal goes on to mark the documents of a kind to be sent again. The
// zero value is the beginning and, after the last of them, the end.
type ResendCursor struct {
	Doc int64 // in an SQLite journal
	ID  ID    // in PostgreSQL
}
