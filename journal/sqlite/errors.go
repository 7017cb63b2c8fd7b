package sqlite

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"riskdex/journal/internal/commit"
)

// classify returns the fault that an error of a transaction tells of. An unknown error counts
// as a fault of the engine: opening that again is always right, only slow.
func classify(err error) commit.Fault {
	if commit.IsRequestError(err) {
		return commit.FaultRequest
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return commit.FaultEngine
	}
	switch e.Code() & 0xff { // the rest of the code is detail
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return commit.FaultPassing
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH:
		return commit.FaultRequest
	}
	return commit.FaultEngine
}

// isCorrupt reports whether SQLite found pages that make no sense.
func isCorrupt(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_CORRUPT
}

// isFull reports whether the disk was full.
func isFull(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_FULL
}

// errNonsense is in the error of what was read, but can be nothing that riskdex wrote.
var errNonsense = errors.New("it has values that make no sense")

// nonsense marks an error of scanning a row, unless it is one of reading it.
func nonsense(err error) error {
	var e *sqlite.Error
	if err == nil || errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %w", errNonsense, err)
}

// restoreHint says what to do where opening failed because the file makes no sense.
func restoreHint(err error) error {
	const hint = "the file is damaged, or no journal; restore a backup: %w"
	if errors.Is(err, errNonsense) {
		return fmt.Errorf(hint, err)
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	// SQLITE_ERROR: it lacks a table or a column that its schema version has.
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR:
		return fmt.Errorf(hint, err)
	}
	return err
}
