package sqlite

import (
	"fmt"
	"strings"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

const (
	// schemaVersion is that of the tables. A file of another version is refused.
	schemaVersion = 1
	// applicationID marks the file as a journal: "risk" in ASCII.
	applicationID = 0x7269736b
)

// schema has the tables. body is the last column, so that nothing else has to be looked for
// behind it. Times are in microseconds since 1970. ended_at is when the document was settled or
// set aside, and has the value of accepted_at until then, which keeps the size of the record.
// STRICT has SQLite check the types.
const schema = `
CREATE TABLE documents (
	doc           INTEGER PRIMARY KEY,
	kind          TEXT NOT NULL,
	id            TEXT NOT NULL,
	version       INTEGER NOT NULL,
	op            TEXT NOT NULL,
	state         INTEGER NOT NULL, -- 2 pending, 3 settled, 4 dead, 5 resend, 6 dropped
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
CREATE INDEX documents_version ON documents (kind, version);
CREATE INDEX documents_unsettled ON documents (kind, state, waiting_since, version, id) WHERE state <> 3;
CREATE INDEX documents_code ON documents (kind, code, op) WHERE code <> '';
CREATE INDEX documents_dead ON documents (kind, id) WHERE state = 4;
CREATE INDEX documents_deleted ON documents (kind, accepted_at) WHERE op = 'delete' AND state = 3;

-- origin is the version under which the publisher delivered what a document holds
-- in that version; without a row, it is that version itself.
CREATE TABLE origins (
	doc     INTEGER PRIMARY KEY,
	version INTEGER NOT NULL,
	origin  INTEGER NOT NULL
) STRICT;
CREATE INDEX origins_origin ON origins (origin);

-- kept is 0 where the newest record of a city states its code, and otherwise the version
-- of the last that did, or -1 where the code has left it, or less where a tombstone's id is
-- no city's (commit.Naming). alone is 1 where no record has stated the id as such. A city without a row has
-- 0 for both.
CREATE TABLE namings (
	doc   INTEGER PRIMARY KEY,
	kept  INTEGER NOT NULL,
	alone INTEGER NOT NULL
) STRICT;
CREATE TRIGGER namings_end AFTER DELETE ON documents BEGIN
	DELETE FROM namings WHERE doc = old.doc;
END;

-- traceparent is the trace that the version of a document belongs to. Rows are
-- written while tracing is on.
CREATE TABLE traces (
	doc         INTEGER PRIMARY KEY,
	version     INTEGER NOT NULL,
	traceparent TEXT NOT NULL
) STRICT;

CREATE TABLE totals (
	kind               TEXT PRIMARY KEY,
	indexes            INTEGER NOT NULL DEFAULT 0, -- accepted
	deletes            INTEGER NOT NULL DEFAULT 0, -- accepted
	indexed            INTEGER NOT NULL DEFAULT 0,
	deleted            INTEGER NOT NULL DEFAULT 0,
	superseded         INTEGER NOT NULL DEFAULT 0,
	dead               INTEGER NOT NULL DEFAULT 0,
	pending            INTEGER NOT NULL DEFAULT 0,
	resending          INTEGER NOT NULL DEFAULT 0,
	dead_letters       INTEGER NOT NULL DEFAULT 0,
	tombstones         INTEGER NOT NULL DEFAULT 0,
	tombstones_dropped INTEGER NOT NULL DEFAULT 0,
	history            INTEGER NOT NULL DEFAULT 0,
	history_bytes      INTEGER NOT NULL DEFAULT 0,
	history_dropped    INTEGER NOT NULL DEFAULT 0,
	dropped_version    INTEGER NOT NULL DEFAULT 0 -- the highest of a tombstone that was dropped
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('last_version', 0), ('probes', 0);

CREATE TABLE ids (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- What is lost, in one row or none.
CREATE TABLE loss (
	one        INTEGER PRIMARY KEY CHECK (one = 1),
	since      INTEGER NOT NULL, -- the last version before it
	until      INTEGER NOT NULL, -- the last version of it
	noticed_at INTEGER NOT NULL
) STRICT;

-- version is the place of a refusal in the order of all deliveries. AUTOINCREMENT
-- keeps SQLite from using a number again.
CREATE TABLE refusals (
	seq      INTEGER PRIMARY KEY AUTOINCREMENT,
	version  INTEGER NOT NULL,
	at       INTEGER NOT NULL,
	bytes    INTEGER NOT NULL,
	kind     TEXT NOT NULL,
	method   TEXT NOT NULL,
	path     TEXT NOT NULL,
	position INTEGER NOT NULL,
	id       TEXT NOT NULL,
	reason   TEXT NOT NULL,
	detail   TEXT NOT NULL,
	cut      INTEGER NOT NULL,
	crc      INTEGER NOT NULL,
	body     BLOB
) STRICT;
CREATE INDEX refusals_document ON refusals (kind, id COLLATE NOCASE, version);

-- A receipt is what was answered to a delivery that has an id of its own, so that
-- the same delivery is answered the same when it comes again.
CREATE TABLE receipts (
	sender TEXT NOT NULL,
	id     TEXT NOT NULL,
	at     INTEGER NOT NULL,
	digest BLOB NOT NULL, -- of the body
	answer BLOB NOT NULL,
	PRIMARY KEY (sender, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX receipts_at ON receipts (at);

-- A row is a change that was accepted while history was on. What begins with old_ is the
-- version that it replaced, as documents had it then; old_version is 0 where there was none.
-- The values of old_form are in package commit.
CREATE TABLE history (
	version     INTEGER PRIMARY KEY,
	kind        TEXT NOT NULL,
	id          TEXT NOT NULL,
	op          TEXT NOT NULL,
	at          INTEGER NOT NULL,
	bytes       INTEGER NOT NULL, -- of the record
	sender      TEXT NOT NULL,
	address     TEXT NOT NULL,
	call        TEXT NOT NULL,
	old_version INTEGER NOT NULL,
	old_op      TEXT NOT NULL,
	old_code    TEXT NOT NULL,
	old_at      INTEGER NOT NULL,
	old_state   INTEGER NOT NULL,
	old_ended   INTEGER NOT NULL,
	old_crc     INTEGER NOT NULL,
	old_bytes   INTEGER NOT NULL, -- of the record
	old_form    INTEGER NOT NULL,
	old_body    BLOB,
	request     TEXT NOT NULL
) STRICT;
CREATE INDEX history_document ON history (kind, id, version);
`

// create is the script for an empty file: the tables, sums of each kind, and the ids of the line,
// of the file and of the feed that cursors are for.
func create() string {
	var script strings.Builder
	script.WriteString(schema)
	for _, k := range report.AllKinds() {
		fmt.Fprintf(&script, "INSERT INTO totals (kind) VALUES ('%s');", k)
	}
	fmt.Fprintf(&script, "INSERT INTO ids VALUES ('line', '%s'), ('file', '%s'), ('feed', '%s');", commit.NewLineageID(), newFileID(), newFileID())
	return script.String()
}
