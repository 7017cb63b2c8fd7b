package postgres

import "fmt"

// schemaVersion is the version of the tables. A newer one may only add what an older
// riskdex that still runs can do without.
const schemaVersion = 10

// schema is what version 1 has. What comes from outside is bytea: text in
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
	PRIMARY KEY (kind, id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
CREATE INDEX documents_unsettled ON documents (kind, state, waiting_since, version, id) WHERE state IN (2, 5);
CREATE INDEX documents_dead ON documents (kind, id) WHERE state = 4;
CREATE INDEX documents_deleted ON documents (kind, accepted_at) WHERE op = 'delete' AND state = 3;
CREATE INDEX documents_code ON documents (code, op) WHERE kind = 'cities' AND code <> ''::bytea;

-- The sums are over all slots. Each process adds to the one of its own, so that none
-- waits for another: a slot alone may have less than nothing.
CREATE TABLE totals (
	slot         smallint NOT NULL,
	kind         text NOT NULL,
	indexes      bigint NOT NULL, -- accepted
	deletes      bigint NOT NULL, -- accepted
	indexed      bigint NOT NULL,
	deleted      bigint NOT NULL,
	superseded   bigint NOT NULL,
	dead         bigint NOT NULL,
	pending      bigint NOT NULL,
	resending    bigint NOT NULL,
	dead_letters bigint NOT NULL,
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
INSERT INTO riskdex_journal VALUES (1);
`

// schema2 is what version 2 added: the id of the line, which is to be inserted.
const schema2 = `CREATE TABLE ids (name text PRIMARY KEY, value text NOT NULL)`

// schema3 is what version 3 added: how many tombstones there are, and how many
// have been dropped. The columns come last, and have defaults, for those that do not know
// them.
const schema3 = `
ALTER TABLE totals ADD COLUMN tombstones bigint NOT NULL DEFAULT 0, ADD COLUMN tombstones_dropped bigint NOT NULL DEFAULT 0;
INSERT INTO totals AS t SELECT 0, kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, count(*), 0 FROM documents WHERE op = 'delete' GROUP BY kind
	ON CONFLICT (slot, kind) DO UPDATE SET tombstones = excluded.tombstones;
`

// schema4 is what version 4 added: what a city is called, as commit.Naming has it. An older
// riskdex takes each code for one that the newest record states.
const schema4 = `
ALTER TABLE documents ADD COLUMN kept bigint NOT NULL DEFAULT 0, ADD COLUMN alone boolean NOT NULL DEFAULT false;
UPDATE documents SET alone = true
	WHERE kind = 'cities' AND code <> ''::bytea AND octet_length(id) = 3 AND encode(code, 'escape') = upper(encode(id, 'escape'));
UPDATE documents d SET kept = d.version FROM documents a WHERE d.kind = 'cities' AND d.op = 'index' AND NOT d.alone
	AND d.code <> ''::bytea AND a.kind = 'cities' AND a.code = d.code AND a.op = 'index' AND a.alone;
`

// schema5 is what version 5 added: what the journal lacked when it was copied, in
// one row or none.
const schema5 = `CREATE TABLE loss (one boolean PRIMARY KEY CHECK (one), since bigint NOT NULL, until bigint NOT NULL, noticed_at bigint NOT NULL)`

// schema6 is what version 6 added: the history. A row is a change that was accepted while
// history was on. What begins with old_ is the version that it replaced, as documents had it
// then; old_version is 0 where there was none. The values of old_form are in package commit.
const schema6 = `
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
	old_body    bytea
);
CREATE INDEX history_document ON history (kind, id, version);
ALTER TABLE totals ADD COLUMN history bigint NOT NULL DEFAULT 0, ADD COLUMN history_bytes bigint NOT NULL DEFAULT 0,
	ADD COLUMN history_dropped bigint NOT NULL DEFAULT 0;
`

// schema7 is what version 7 added: what is asked for by version, and the highest version of a
// tombstone that was dropped. The column comes last, as those of version 3 do.
const schema7 = `
CREATE INDEX documents_version ON documents (kind, version);
CREATE INDEX documents_origin ON documents (kind, origin) WHERE origin <> 0;
ALTER TABLE totals ADD COLUMN dropped_version bigint NOT NULL DEFAULT 0;
`

// schema8 is what version 8 added: the id of the request that a change came with. The column
// comes last, as those of version 3 do.
const schema8 = `ALTER TABLE history ADD COLUMN request bytea NOT NULL DEFAULT ''`

// schema9 is what version 9 added: an index to count dead letters that were dropped.
const schema9 = `CREATE INDEX documents_dropped ON documents (kind) WHERE state = 6`

// schema10 is what version 10 added: what documents count for towards the limit of the journal. The
// column comes last, as those of version 3 do.
var schema10 = `ALTER TABLE totals ADD COLUMN bytes bigint NOT NULL DEFAULT 0; ` + sumDocuments

// documentBytes is the size that a document counts for in addition to its body.
const documentBytes = 500

var sumDocuments = fmt.Sprintf(`INSERT INTO totals AS t (slot, kind, indexes, deletes, indexed, deleted, superseded, dead, pending, resending, dead_letters, bytes)
	SELECT 0, kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, sum(bytes) + %d * count(*) FROM documents GROUP BY kind
	ON CONFLICT (slot, kind) DO UPDATE SET bytes = excluded.bytes`, documentBytes)
