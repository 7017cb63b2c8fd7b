package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"riskdex/report"
)

// markJournal makes a journal of a file that has the schema.
var markJournal = fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, schemaVersion)

// setUp creates the schema in an empty file, brings an older one up to date, and
// refuses a file that this version of riskdex cannot use.
func setUp(ctx context.Context, conn *sql.Conn) error {
	var version, application, tables int
	for query, into := range map[string]*int{
		"PRAGMA user_version":                &version,
		"PRAGMA application_id":              &application,
		"SELECT count(*) FROM sqlite_schema": &tables,
	} {
		if err := conn.QueryRowContext(ctx, query).Scan(into); err != nil {
			return fmt.Errorf("read what kind of database it is: %w", err)
		}
	}
	switch {
	case tables == 0 && version == 0:
	case application != applicationID:
		return fmt.Errorf("it is an SQLite database, but no riskdex journal; choose another file")
	case version > schemaVersion:
		return fmt.Errorf("it has schema version %d, written by a newer riskdex; this one knows versions up to %d; run the newer one", version, schemaVersion)
	case version == schemaVersion:
		return nil
	}
	script := create()
	if version > 0 {
		script = migrate(version)
	}
	script = fmt.Sprintf("BEGIN IMMEDIATE; %s; %s; COMMIT", script, markJournal)
	if _, err := conn.ExecContext(ctx, script); err != nil {
		return fmt.Errorf("bring its tables from schema version %d to %d: %w", version, schemaVersion, err)
	}
	return nil
}

// migrate is the script that brings a file from an older schema version to this one.
func migrate(version int) string {
	script := ""
	if version < 2 {
		script += migrate1
	}
	if version < 3 {
		script += schema3
	}
	if version < 4 {
		script += schema4()
	}
	if version < 5 {
		script += schema5
	}
	if version < 6 {
		script += migrate5
	}
	if version < 7 {
		script += schema7()
	}
	if version < 8 {
		script += schema8
	}
	if version < 9 {
		script += schema9()
	}
	return script + schema10
}

// create is the script for an empty file.
func create() string {
	var script strings.Builder
	script.WriteString(schema1 + schema2 + schema3 + schema4() + schema5 + schema6 + schema7() + schema8 + schema9() + schema10)
	for _, k := range report.Kinds() {
		fmt.Fprintf(&script, "INSERT INTO totals (kind) VALUES ('%s');", k)
	}
	return script.String()
}
