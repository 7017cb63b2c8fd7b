package commit

import (
	"bytes"
	"cmp"
	"errors"
	"strings"

	"riskdex/report"
)

// Store is the database as one transaction sees it, with its own writes. It makes no decisions; the
// methods of Transaction do, on Rows. Times are in microseconds since 1970.
type Store interface {
	// NextVersion returns a version above every one given out before; above the clock, so that
	// a fresh journal is ahead of an index that outlived an older one; and above after, the
	// version of an index that is ahead all the same.
	NextVersion(after report.Version) (report.Version, error)
	// BeginDelivery has the versions up to EndDelivery follow each other without one of another
	// transaction between them, and above one: about so many.
	BeginDelivery(versions int, above report.Version) error
	EndDelivery()

	// Load returns the rows of those documents that there are. Codes calls f with each city that has one of
	// some codes and has not lost it. Both see what was flushed.
	Load(keys []report.Key) ([]*Row, error)
	Codes(codes []string, f func(id report.ID, code string, op report.Op)) error
	// Flush writes rows and history.
	Flush(w Writes) error

	// EndClaimed ends a document as Row.end does, without a lookup, if it has not changed since it was
	// claimed. If it has, or that is unknown, EndClaimed does nothing and returns false. 0 leaves the
	// time when it ended as it is.
	EndClaimed(k report.Key, claimed Claim, ended int64) (bool, error)
	// Unclaim ends the claim of a settled change, and defers the document if the settlement
	// says so, in a store that keeps claims. It reports whether that changed the row.
	Unclaim(n Settled, r *Row) bool
	// MayDropPast reports false where another process is dropping from the history: two would drop too much.
	MayDropPast() (bool, error)

	// MarkAll marks settled documents of a kind to be sent again, and returns how many. It looks at limit of
	// them, after a cursor, and returns where to go on, which is the zero cursor at the end.
	MarkAll(kind report.Kind, after report.ResendCursor, limit int) (n int64, next report.ResendCursor, err error)

	// Exec executes a statement (see SQL) and returns how many rows it changed. Query calls f with each row of
	// a result, until f returns ErrEnough. A parameter that the schema calls @text is a Text.
	Exec(query string, args ...any) (int64, error)
	Query(f func(scan func(...any) error) error, query string, args ...any) error
}

// ErrEnough ends a Query before all rows are read.
var ErrEnough = errors.New("enough")

// ErrMeanwhile has a transaction run again: another process has changed what it rests on.
var ErrMeanwhile = errors.New("refusals or receipts were kept, retried or dropped meanwhile")

// Text is a text from outside as the parameter of a statement.
type Text string

// one reads the first row of a result into targets, and reports whether there is one.
func one(s Store, targets []any, query string, args ...any) (found bool, err error) {
	err = s.Query(func(scan func(...any) error) error {
		found = true
		return cmp.Or(scan(targets...), ErrEnough)
	}, query, args...)
	return found, err
}

// Cursor is a position among the settled deletes of a kind, in the order of their acceptance.
type Cursor struct {
	AcceptedAt int64
	ID         report.ID
}

// CompareKeys compares keys in the order in which rows are locked.
func CompareKeys(a, b report.Key) int {
	if c := strings.Compare(string(a.Kind), string(b.Kind)); c != 0 {
		return c
	}
	return bytes.Compare([]byte(a.ID), []byte(b.ID))
}
