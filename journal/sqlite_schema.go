package journal

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"riskdex/report"
)

const (
	schemaVersion = 1
	// applicationID marks the file as a journal: "risk" in ASCII.
	applicationID = 0x7269736b
)

// States of a document. SQLite stores the numbers 0 and 1 in no byte and these in
// one, so that a change of state overwrites the record where it is.
const (
	pending = 2
	done    = 3 // indexed, deleted or superseded
	dead    = 4
	resend  = 5
)

// schema: body is the last column, so that nothing else has to be looked for
// behind it. Times are in microseconds since 1970. ended_at is when the document
// was settled or set aside, and has the value of accepted_at until then, which
// keeps the size of the record. STRICT has SQLite check the types.
const schema = `
CREATE TABLE documents (
	doc           INTEGER PRIMARY KEY,
	kind          TEXT NOT NULL,
	id            TEXT NOT NULL,
	version       INTEGER NOT NULL,
	op            TEXT NOT NULL,
	state         INTEGER NOT NULL, -- 2 pending, 3 settled, 4 dead, 5 resend
	code          TEXT NOT NULL,
	accepted_at   INTEGER NOT NULL,
	waiting_since INTEGER NOT NULL,
	ended_at      INTEGER NOT NULL,
	crc           INTEGER NOT NULL,
	error_type    TEXT NOT NULL,
	reason        TEXT NOT NULL,
	body          BLOB
) STRICT;
CREATE UNIQUE INDEX documents_key ON documents (kind, id);
CREATE INDEX documents_unsettled ON documents (kind, state, waiting_since, version, id) WHERE state <> 3;
CREATE INDEX documents_code ON documents (kind, code, op) WHERE code <> '';

CREATE TABLE totals (
	kind         TEXT PRIMARY KEY,
	indexes      INTEGER NOT NULL DEFAULT 0, -- accepted
	deletes      INTEGER NOT NULL DEFAULT 0, -- accepted
	indexed      INTEGER NOT NULL DEFAULT 0,
	deleted      INTEGER NOT NULL DEFAULT 0,
	superseded   INTEGER NOT NULL DEFAULT 0,
	dead         INTEGER NOT NULL DEFAULT 0,
	pending      INTEGER NOT NULL DEFAULT 0,
	resending    INTEGER NOT NULL DEFAULT 0,
	dead_letters INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('last_version', 0), ('probes', 0);

CREATE TABLE refusals (
	seq      INTEGER PRIMARY KEY,
	at       INTEGER NOT NULL,
	bytes    INTEGER NOT NULL,
	kind     TEXT NOT NULL,
	method   TEXT NOT NULL,
	path     TEXT NOT NULL,
	position INTEGER NOT NULL,
	id       TEXT NOT NULL,
	reason   TEXT NOT NULL,
	detail   TEXT NOT NULL,
	body     BLOB
) STRICT;
`

// setUp creates the schema in an empty file and refuses a file that this version
// of riskdex cannot use.
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
	default:
		return nil
	}
	var script strings.Builder
	script.WriteString("BEGIN IMMEDIATE;")
	script.WriteString(schema)
	for _, k := range report.Kinds() {
		fmt.Fprintf(&script, "INSERT INTO totals (kind) VALUES ('%s');", k)
	}
	fmt.Fprintf(&script, "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", applicationID, schemaVersion)
	if _, err := conn.ExecContext(ctx, script.String()); err != nil {
		return fmt.Errorf("create its tables: %w", err)
	}
	return nil
}
