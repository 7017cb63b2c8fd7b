package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"riskdex/journal/internal/tables"
)

// markJournal makes a journal of a file that has the schema.
var markJournal = fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, tables.Version)

// setUp creates the schema in an empty file, and refuses a file that is not a journal of this version.
func setUp(ctx context.Context, conn *sql.Conn) error {
	var tables int
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return fmt.Errorf("read what kind of database it is: %w", err)
	}
	if tables > 0 {
		return checkIsJournal(ctx, conn)
	}
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("BEGIN IMMEDIATE; %s; %s; COMMIT", create(), markJournal)); err != nil {
		return fmt.Errorf("create its tables: %w", err)
	}
	return nil
}

// checkIsJournal refuses a database that is no journal, or that of another version of riskdex.
func checkIsJournal(ctx context.Context, conn *sql.Conn) error {
	var version, application int
	for query, into := range map[string]*int{"PRAGMA user_version": &version, "PRAGMA application_id": &application} {
		if err := conn.QueryRowContext(ctx, query).Scan(into); err != nil {
			return fmt.Errorf("read what kind of database it is: %w", err)
		}
	}
	switch {
	case application != applicationID:
		return errors.New("it is an SQLite database, but no riskdex journal; choose another file")
	case version != tables.Version:
		return fmt.Errorf("its tables have version %d, and this riskdex knows version %d: use the riskdex that made it", version, tables.Version)
	}
	return nil
}
