// Package tables has the tables of a journal and what only reads them. Both are the same in every
// engine, but for the few differences that the methods of [Engine] and the schema name.
package tables

import "strings"

// Version is that of the tables. Tables of another version are refused.
const Version = 1

// Schema returns the script that creates the tables in an engine. A line that begins with the name
// of an engine is for that one alone.
func Schema(e Engine) string {
	types := map[Engine][]string{
		// STRICT has SQLite check the types.
		SQLite: {"@int", "INTEGER", "@small", "INTEGER", "@serial", "INTEGER PRIMARY KEY AUTOINCREMENT", "@flag", "INTEGER", "@word", "TEXT",
			"@text", "TEXT", "@bytes", "BLOB", "@strict", "STRICT"},
		// Text in PostgreSQL has no U+0000, and its order is that of a language unless it is told otherwise.
		Postgres: {"@int", "bigint", "@small", "smallint", "@serial", "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "@flag", "boolean",
			"@word", `text COLLATE "C"`, "@text", "bytea", "@bytes", "bytea", " @strict", ""},
	}
	var script strings.Builder
	for line := range strings.Lines(schema) {
		of, rest, found := strings.Cut(line, ": ")
		switch {
		case !found || of != string(SQLite) && of != string(Postgres):
			script.WriteString(line)
		case of == string(e):
			script.WriteString(rest)
		}
	}
	return strings.NewReplacer(types[e]...).Replace(script.String())
}

// schema has the tables. The types are @int, @small, @serial for numbers that the database gives out,
// @flag, @word for riskdex's own words, @text for text from outside and @bytes. Times are in
// microseconds since 1970. A copy takes over the columns that are in both engines (Dumped); those of
// one engine alone need a default.
const schema = `
-- origin is the version that the content was delivered under, 0 if that is version (commit.Row).
-- ended_at is when the document was settled or set aside, and has the value of accepted_at until then,
-- which keeps the size of the row. kept and alone are what a city is called (report.Naming). trace is
-- the traceparent of a pending version. body is the last column, so that nothing has to be looked for
-- behind it.
--
-- A process that has claimed a version has its id in holder and the version in claimed. One that has
-- deferred a document, until free_at, has its id in holder and 0 in claimed; free_at is negative where
-- the document may be due earlier (dueAt). In holder, 0 is nobody, and -1 a process that was taken for
-- dead, or has lost its connection. These three are in no index, so that a claim changes none.
CREATE TABLE documents (
sqlite: 	doc           INTEGER PRIMARY KEY,
	kind          @word NOT NULL,
	id            @text NOT NULL,
	version       @int NOT NULL,
	origin        @int NOT NULL,
	op            @word NOT NULL,
	state         @small NOT NULL, -- 2 pending, 3 settled, 4 dead, 5 resend, 6 dropped
	code          @text NOT NULL,
	accepted_at   @int NOT NULL,
	waiting_since @int NOT NULL,
	ended_at      @int NOT NULL,
postgres: 	free_at       bigint NOT NULL DEFAULT 0,
postgres: 	holder        bigint NOT NULL DEFAULT 0,
postgres: 	claimed       bigint NOT NULL DEFAULT 0,
	crc           @int NOT NULL,
	kept          @int NOT NULL,
	alone         @flag NOT NULL,
	trace         @text NOT NULL,
	error_type    @text NOT NULL,
	reason        @text NOT NULL,
	body          @bytes
sqlite: ) STRICT;
postgres: ) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
CREATE UNIQUE INDEX documents_key ON documents (kind, id);
CREATE INDEX documents_version ON documents (kind, version);
CREATE INDEX documents_origin ON documents (kind, origin) WHERE origin <> 0;
CREATE INDEX documents_unsettled ON documents (kind, state, waiting_since, version, id) WHERE state <> 3;
CREATE INDEX documents_code ON documents (kind, code, op) WHERE code <> '';
CREATE INDEX documents_dead ON documents (kind, id) WHERE state = 4;
CREATE INDEX documents_deleted ON documents (kind, accepted_at, id) WHERE op = 'delete' AND state = 3;

-- In PostgreSQL the sums are over all slots. Each process adds to the one of its own, so that none
-- waits for another: a slot alone may have less than nothing.
CREATE TABLE totals (
postgres: 	slot               smallint NOT NULL DEFAULT 0,
	kind               @word NOT NULL,
	indexes            @int NOT NULL DEFAULT 0, -- accepted
	deletes            @int NOT NULL DEFAULT 0, -- accepted
	indexed            @int NOT NULL DEFAULT 0,
	deleted            @int NOT NULL DEFAULT 0,
	superseded         @int NOT NULL DEFAULT 0,
	dead               @int NOT NULL DEFAULT 0,
	pending            @int NOT NULL DEFAULT 0,
	resending          @int NOT NULL DEFAULT 0,
	dead_letters       @int NOT NULL DEFAULT 0,
	tombstones         @int NOT NULL DEFAULT 0,
	tombstones_dropped @int NOT NULL DEFAULT 0,
	history            @int NOT NULL DEFAULT 0,
	history_bytes      @int NOT NULL DEFAULT 0,
	history_dropped    @int NOT NULL DEFAULT 0,
	bytes              @int NOT NULL DEFAULT 0, -- what documents count for towards the limit of the journal
	dropped_version    @int NOT NULL DEFAULT 0, -- the highest of a tombstone that was dropped
sqlite: 	PRIMARY KEY (kind)
sqlite: ) STRICT, WITHOUT ROWID;
postgres: 	PRIMARY KEY (slot, kind)
postgres: ) WITH (fillfactor = 50);

sqlite: CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
sqlite: INSERT INTO meta (name, value) VALUES ('last_version', 0), ('probes', 0);
postgres: CREATE TABLE meta (
postgres: 	one           boolean PRIMARY KEY CHECK (one),
postgres: 	refusals      bigint NOT NULL, -- kept
postgres: 	refusal_bytes bigint NOT NULL,
postgres: 	probes        bigint NOT NULL
postgres: );
postgres: INSERT INTO meta (one, refusals, refusal_bytes, probes) VALUES (true, 0, 0, 0);
postgres: CREATE SEQUENCE versions;
postgres: CREATE TABLE riskdex_journal (version bigint NOT NULL);

CREATE TABLE ids (name @word PRIMARY KEY, value @word NOT NULL) @strict;

-- What is lost, in one row or none.
CREATE TABLE loss (
	one        @flag PRIMARY KEY CHECK (one),
	since      @int NOT NULL, -- the last version before it
	until      @int NOT NULL, -- the last version of it
	noticed_at @int NOT NULL
) @strict;

-- version is the place of a refusal in the order of all deliveries, and folded is its id without
-- regard to case, or nothing for one that is too long for a document. A number is not used again.
CREATE TABLE refusals (
	seq      @serial,
	version  @int NOT NULL,
	at       @int NOT NULL,
	bytes    @int NOT NULL,
	kind     @word NOT NULL,
	method   @text NOT NULL,
	path     @text NOT NULL,
	position @int NOT NULL,
	id       @text NOT NULL,
	folded   @text NOT NULL,
	reason   @text NOT NULL,
	detail   @text NOT NULL,
	cut      @flag NOT NULL,
	crc      @int NOT NULL,
	body     @bytes
) @strict;
sqlite: CREATE INDEX refusals_document ON refusals (kind, folded, version, id);
postgres: CREATE INDEX refusals_document ON refusals (kind, folded, version);

-- A receipt is what was answered to a delivery that has an id of its own, so that the same delivery is
-- answered the same when it comes again.
CREATE TABLE receipts (
	sender @text NOT NULL,
	id     @text NOT NULL,
	at     @int NOT NULL,
	digest @bytes NOT NULL, -- of the body
	answer @bytes NOT NULL,
	PRIMARY KEY (sender, id)
sqlite: ) STRICT, WITHOUT ROWID;
postgres: );
CREATE INDEX receipts_at ON receipts (at);

-- A row is a change that was accepted while history was on. What begins with old_ is the version that it
-- replaced, as documents had it then; old_version is 0 where there was none. The values of old_form are
-- in package commit.
CREATE TABLE history (
	version     @int PRIMARY KEY,
	kind        @word NOT NULL,
	id          @text NOT NULL,
	op          @word NOT NULL,
	at          @int NOT NULL,
	bytes       @int NOT NULL, -- of the record
	sender      @text NOT NULL,
	address     @text NOT NULL,
	call        @text NOT NULL,
	request     @text NOT NULL,
	old_version @int NOT NULL,
	old_op      @word NOT NULL,
	old_code    @text NOT NULL,
	old_at      @int NOT NULL,
	old_state   @small NOT NULL,
	old_ended   @int NOT NULL,
	old_crc     @int NOT NULL,
	old_bytes   @int NOT NULL, -- of the record
	old_form    @small NOT NULL,
	old_body    @bytes
) @strict;
CREATE INDEX history_document ON history (kind, id, version);

-- The processes that work on the journal. One that is not alive any longer is taken out by any other.
postgres: CREATE TABLE processes (
postgres: 	id          @serial,
postgres: 	name        text NOT NULL, -- for people
postgres: 	connections text NOT NULL, -- how its connections are called, and no others
postgres: 	alive_until bigint NOT NULL
postgres: );
-- Who has a kind alone. The generation grows with every change of it.
postgres: CREATE TABLE holds (kind text PRIMARY KEY, holder bigint NOT NULL, generation bigint NOT NULL);
`
