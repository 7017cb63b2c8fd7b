package sqlite

import "riskdex/journal/internal/commit"

const (
	schemaVersion = 10
	// applicationID marks the file as a journal: "risk" in ASCII.
	applicationID = 0x7269736b
)

// schema1 is all that the versions share. body is the last column, so that nothing
// else has to be looked for behind it. Times are in microseconds since 1970. ended_at is when the document
// was settled or set aside, and has the value of accepted_at until then, which
// keeps the size of the record. STRICT has SQLite check the types.
const schema1 = `
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
`

// schema2 is what schema version 2 added: it was all that version 1 lacked, but for
// the columns of refusals, which therefore are made anew.
const schema2 = `
CREATE INDEX documents_dead ON documents (kind, id) WHERE state = 4;
CREATE INDEX documents_deleted ON documents (kind, accepted_at) WHERE op = 'delete' AND state = 3;

-- origin is the version under which the publisher delivered what a document holds
-- in that version; without a row, it is that version itself.
CREATE TABLE origins (
	doc     INTEGER PRIMARY KEY,
	version INTEGER NOT NULL,
	origin  INTEGER NOT NULL
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
	crc      INTEGER, -- NULL when it was kept under schema version 1
	body     BLOB
) STRICT;
CREATE INDEX refusals_document ON refusals (kind, id COLLATE NOCASE, version);
`

// schema3 is what schema version 3 added.
const schema3 = `
-- traceparent is the trace that the version of a document belongs to. Rows are
-- written while tracing is on.
CREATE TABLE traces (
	doc         INTEGER PRIMARY KEY,
	version     INTEGER NOT NULL,
	traceparent TEXT NOT NULL
) STRICT;

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

-- The sums of the probe, which is a kind since this version.
INSERT INTO totals (kind) VALUES ('probe');
`

// schema4 is what schema version 4 added: the id of the line.
func schema4() string {
	return `
CREATE TABLE ids (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO ids VALUES ('line', '` + commit.NewLineageID() + `');
`
}

// schema5 is what schema version 5 added: how many tombstones there are, and how many
// have been dropped.
const schema5 = `
ALTER TABLE totals ADD COLUMN tombstones INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN tombstones_dropped INTEGER NOT NULL DEFAULT 0;
UPDATE totals SET tombstones = (SELECT count(*) FROM documents WHERE documents.kind = totals.kind AND op = 'delete');
`

// schema6 is what schema version 6 added.
const schema6 = `
-- kept is 0 where the newest record of a city states its code, and otherwise the version
-- of the last that did, or -1 where the code has left it, or -2 where a tombstone's id is
-- no city's. alone is 1 where no record has stated the id as such. A city without a row has
-- 0 for both.
CREATE TABLE namings (
	doc   INTEGER PRIMARY KEY,
	kept  INTEGER NOT NULL,
	alone INTEGER NOT NULL
) STRICT;
CREATE TRIGGER namings_end AFTER DELETE ON documents BEGIN
	DELETE FROM namings WHERE doc = old.doc;
END;
`

// fileIDVersion is the first schema version whose files have an id.
const fileIDVersion = 7

// schema7 is what schema version 7 added: what is lost, in one row or none, and the id of
// the file.
func schema7() string {
	return `
CREATE TABLE loss (
	one        INTEGER PRIMARY KEY CHECK (one = 1),
	since      INTEGER NOT NULL, -- the last version before it
	until      INTEGER NOT NULL, -- the last version of it
	noticed_at INTEGER NOT NULL
) STRICT;
INSERT INTO ids VALUES ('file', '` + newFileID() + `');
`
}

// schema8 is what schema version 8 added: the history.
const schema8 = `
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
	old_body    BLOB
) STRICT;
CREATE INDEX history_document ON history (kind, id, version);
ALTER TABLE totals ADD COLUMN history INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN history_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN history_dropped INTEGER NOT NULL DEFAULT 0;
`

// schema9 is what schema version 9 added: what is asked for by version, the highest version of
// a tombstone that was dropped, and the id of the feed that cursors are for.
func schema9() string {
	return `
CREATE INDEX documents_version ON documents (kind, version);
CREATE INDEX origins_origin ON origins (origin);
ALTER TABLE totals ADD COLUMN dropped_version INTEGER NOT NULL DEFAULT 0;
INSERT INTO ids VALUES ('feed', '` + newFileID() + `');
`
}

// schema10 is what schema version 10 added: the id of the request that a change came with.
const schema10 = `ALTER TABLE history ADD COLUMN request TEXT NOT NULL DEFAULT '';`

// migrate5 brings version 5 to version 6. A city whose id is its code is taken for one that
// is known by nothing else. Where another one states that code, it is to adopt it with its
// next record, as if it stated the code anew.
const migrate5 = schema6 + `
INSERT INTO namings SELECT doc, 0, 1 FROM documents WHERE kind = 'cities' AND code <> '' AND code = upper(id);
INSERT OR IGNORE INTO namings SELECT d.doc, d.version, 0 FROM documents d JOIN documents a ON a.kind = d.kind AND a.code = d.code
	WHERE d.kind = 'cities' AND d.op = 'index' AND d.code <> '' AND d.code <> upper(d.id) AND a.op = 'index' AND a.code = upper(a.id);
`

// migrate1 brings version 1 to version 2. Versions come from the clock, so the time
// of a refusal tells its place among them. Bodies were kept up to 64 KiB.
const migrate1 = `
ALTER TABLE refusals RENAME TO refusals1;
` + schema2 + `
INSERT INTO refusals (seq, version, at, bytes, kind, method, path, position, id, reason, detail, cut, body)
	SELECT seq, max(1, min(at, (SELECT value FROM meta WHERE name = 'last_version'))), at, bytes, kind, method, path,
		position, id, reason, detail, coalesce(length(body), 0) >= 65536, body FROM refusals1 ORDER BY seq;
DROP TABLE refusals1;
`
