package postgres

import "fmt"

// schemaVersion is that of the tables. Tables of another version are refused.
const schemaVersion = 1

// schema has the tables. What comes from outside is bytea: text in
// PostgreSQL has no U+0000, and its order is that of a language. Times are in
// microseconds since 1970. What is claimed, and what holds a kind, has the id of a
// process in holder; 0 is nobody, and -1 a process that was taken for dead, or
// has lost its connection.
//
// What a process has deferred has its id as well, and claimed 0.
//
// free_at, holder and claimed are in no index, so that a claim changes none.
const schema = `
CREATE TABLE documents (
	kind          text NOT NULL,
	id            bytea NOT NULL,
	version       bigint NOT NULL,
	origin        bigint NOT NULL, -- the version that the content was delivered under; 0 is version
	op            text NOT NULL,
	state         smallint NOT NULL, -- 2 pending, 3 settled, 4 dead, 5 resend, 6 dropped
	code          bytea NOT NULL,
	accepted_at   bigint NOT NULL,
	waiting_since bigint NOT NULL,
	ended_at      bigint NOT NULL,
	free_at       bigint NOT NULL, -- before it, the document is not claimed; negated where dueAt may be before it
	holder        bigint NOT NULL, -- who has claimed it
	claimed       bigint NOT NULL, -- which version
	crc           bigint NOT NULL,
	bytes         bigint NOT NULL, -- of body
	trace         bytea,
	error_type    bytea NOT NULL,
	reason        bytea NOT NULL,
	body          bytea,
	kept          bigint NOT NULL, -- with alone, what a city is called, as commit.Naming has it
	alone         boolean NOT NULL,
	PRIMARY KEY (kind, id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
CREATE INDEX documents_unsettled ON documents (kind, state, waiting_since, version, id) WHERE state IN (2, 5);
CREATE INDEX documents_dead ON documents (kind, id) WHERE state = 4;
CREATE INDEX documents_deleted ON documents (kind, accepted_at) WHERE op = 'delete' AND state = 3;
CREATE INDEX documents_dropped ON documents (kind) WHERE state = 6;
CREATE INDEX documents_version ON documents (kind, version);
CREATE INDEX documents_origin ON documents (kind, origin) WHERE origin <> 0;
CREATE INDEX documents_code ON documents (code, op) WHERE kind = 'cities' AND code <> ''::bytea;

-- The sums are over all slots. Each process adds to the one of its own, so that none
-- waits for another: a slot alone may have less than nothing.
CREATE TABLE totals (
	slot               smallint NOT NULL,
	kind               text NOT NULL,
	indexes            bigint NOT NULL DEFAULT 0, -- accepted
	deletes            bigint NOT NULL DEFAULT 0, -- accepted
	indexed            bigint NOT NULL DEFAULT 0,
	deleted            bigint NOT NULL DEFAULT 0,
	superseded         bigint NOT NULL DEFAULT 0,
	dead               bigint NOT NULL DEFAULT 0,
	pending            bigint NOT NULL DEFAULT 0,
	resending          bigint NOT NULL DEFAULT 0,
	dead_letters       bigint NOT NULL DEFAULT 0,
	tombstones         bigint NOT NULL DEFAULT 0,
	tombstones_dropped bigint NOT NULL DEFAULT 0,
	history            bigint NOT NULL DEFAULT 0,
	history_bytes      bigint NOT NULL DEFAULT 0,
	history_dropped    bigint NOT NULL DEFAULT 0,
	dropped_version    bigint NOT NULL DEFAULT 0, -- the highest of a tombstone that was dropped
	bytes              bigint NOT NULL DEFAULT 0, -- what documents count for towards the limit of the journal
	PRIMARY KEY (slot, kind)
) WITH (fillfactor = 50);

CREATE TABLE meta (
	one           boolean PRIMARY KEY CHECK (one),
	refusals      bigint NOT NULL, -- kept
	refusal_bytes bigint NOT NULL,
	probes        bigint NOT NULL
);
INSERT INTO meta VALUES (true, 0, 0, 0);

CREATE SEQUENCE versions;

CREATE TABLE refusals (
	seq      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	version  bigint NOT NULL, -- its place in the order of all deliveries
	at       bigint NOT NULL,
	bytes    bigint NOT NULL,
	kind     text NOT NULL,
	method   bytea NOT NULL,
	path     bytea NOT NULL,
	position bigint NOT NULL,
	id       bytea NOT NULL,
	folded   bytea NOT NULL, -- id without regard to case
	reason   bytea NOT NULL,
	detail   bytea NOT NULL,
	cut      boolean NOT NULL,
	crc      bigint NOT NULL,
	body     bytea
);
CREATE INDEX refusals_document ON refusals (kind, sha256(folded), version);

CREATE TABLE receipts (
	sender bytea NOT NULL,
	id     bytea NOT NULL,
	at     bigint NOT NULL,
	digest bytea NOT NULL,
	answer bytea NOT NULL,
	PRIMARY KEY (sender, id)
);
CREATE INDEX receipts_at ON receipts (at);

-- The processes that work on the journal. One that is not alive any longer is taken
-- out by any other.
CREATE TABLE processes (
	id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name        text NOT NULL, -- for people
	connections text NOT NULL, -- how its connections are called, and no others
	alive_until bigint NOT NULL
);

-- Who has a kind alone. The generation grows with every change of it.
CREATE TABLE holds (
	kind       text PRIMARY KEY,
	holder     bigint NOT NULL,
	generation bigint NOT NULL
);
INSERT INTO holds VALUES ('cities', 0, 0), ('advisories', 0, 0), ('special-reports', 0, 0), ('probe', 0, 0);

CREATE TABLE riskdex_journal (version bigint NOT NULL);

CREATE TABLE ids (name text PRIMARY KEY, value text NOT NULL);

-- What is lost, in one row or none.
CREATE TABLE loss (one boolean PRIMARY KEY CHECK (one), since bigint NOT NULL, until bigint NOT NULL, noticed_at bigint NOT NULL);

-- A row is a change that was accepted while history was on. What begins with old_ is the version
-- that it replaced, as documents had it then; old_version is 0 where there was none. The values of
-- old_form are in package commit.
CREATE TABLE history (
	version     bigint PRIMARY KEY,
	kind        text NOT NULL,
	id          bytea NOT NULL,
	op          text NOT NULL,
	at          bigint NOT NULL,
	bytes       bigint NOT NULL, -- of the record
	sender      bytea NOT NULL,
	address     bytea NOT NULL,
	call        bytea NOT NULL,
	old_version bigint NOT NULL,
	old_op      text NOT NULL,
	old_code    bytea NOT NULL,
	old_at      bigint NOT NULL,
	old_state   smallint NOT NULL,
	old_ended   bigint NOT NULL,
	old_crc     bigint NOT NULL,
	old_bytes   bigint NOT NULL, -- of the record
	old_form    smallint NOT NULL,
	old_body    bytea,
	request     bytea NOT NULL
);
CREATE INDEX history_document ON history (kind, id, version);
`

// documentBytes is the size that a document counts for in addition to its body.
const documentBytes = 500

// sumDocuments is for a journal whose documents were copied.
var sumDocuments = fmt.Sprintf(`INSERT INTO totals AS t (slot, kind, bytes)
	SELECT 0, kind, sum(bytes) + %d * count(*) FROM documents GROUP BY kind
	ON CONFLICT (slot, kind) DO UPDATE SET bytes = excluded.bytes`, documentBytes)
