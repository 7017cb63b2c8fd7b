SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SET check_function_bodies = false;
SET default_tablespace = '';
CREATE TABLE documents (
    kind text NOT NULL,
    id bytea NOT NULL,
    version bigint NOT NULL,
    origin bigint NOT NULL,
    op text NOT NULL,
    state smallint NOT NULL,
    code bytea NOT NULL,
    accepted_at bigint NOT NULL,
    waiting_since bigint NOT NULL,
    ended_at bigint NOT NULL,
    free_at bigint NOT NULL,
    holder bigint NOT NULL,
    claimed bigint NOT NULL,
    crc bigint NOT NULL,
    bytes bigint NOT NULL,
    trace bytea,
    error_type bytea NOT NULL,
    reason bytea NOT NULL,
    body bytea,
    kept bigint DEFAULT 0 NOT NULL,
    alone boolean DEFAULT false NOT NULL
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='5000');
ALTER TABLE ONLY documents ALTER COLUMN body SET COMPRESSION lz4;
CREATE TABLE holds (
    kind text NOT NULL,
    holder bigint NOT NULL,
    generation bigint NOT NULL
);
CREATE TABLE ids (
    name text NOT NULL,
    value text NOT NULL
);
CREATE TABLE loss (
    one boolean NOT NULL,
    since bigint NOT NULL,
    until bigint NOT NULL,
    noticed_at bigint NOT NULL,
    CONSTRAINT loss_one_check CHECK (one)
);
CREATE TABLE meta (
    one boolean NOT NULL,
    refusals bigint NOT NULL,
    refusal_bytes bigint NOT NULL,
    probes bigint NOT NULL,
    CONSTRAINT meta_one_check CHECK (one)
);
CREATE TABLE processes (
    id bigint NOT NULL,
    name text NOT NULL,
    connections text NOT NULL,
    alive_until bigint NOT NULL
);
ALTER TABLE processes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME processes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE receipts (
    sender bytea NOT NULL,
    id bytea NOT NULL,
    at bigint NOT NULL,
    digest bytea NOT NULL,
    answer bytea NOT NULL
);
CREATE TABLE refusals (
    seq bigint NOT NULL,
    version bigint NOT NULL,
    at bigint NOT NULL,
    bytes bigint NOT NULL,
    kind text NOT NULL,
    method bytea NOT NULL,
    path bytea NOT NULL,
    "position" bigint NOT NULL,
    id bytea NOT NULL,
    folded bytea NOT NULL,
    reason bytea NOT NULL,
    detail bytea NOT NULL,
    cut boolean NOT NULL,
    crc bigint NOT NULL,
    body bytea
);
ALTER TABLE ONLY refusals ALTER COLUMN body SET COMPRESSION lz4;
ALTER TABLE refusals ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME refusals_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE riskdex_journal (
    version bigint NOT NULL
);
CREATE TABLE totals (
    slot smallint NOT NULL,
    kind text NOT NULL,
    indexes bigint NOT NULL,
    deletes bigint NOT NULL,
    indexed bigint NOT NULL,
    deleted bigint NOT NULL,
    superseded bigint NOT NULL,
    dead bigint NOT NULL,
    pending bigint NOT NULL,
    resending bigint NOT NULL,
    dead_letters bigint NOT NULL,
    tombstones bigint DEFAULT 0 NOT NULL,
    tombstones_dropped bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');
CREATE SEQUENCE versions
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
INSERT INTO documents VALUES ('probe', '\x70726f6265', 1795462688326070, 0, 'index', 3, '\x', 1795462688325904, 1795462688325904, 1795462688379726, 0, 0, 0, 4215105687, 2, NULL, '\x', '\x', '\x7b7d', 0, false);
INSERT INTO documents VALUES ('cities', '\x31', 1795462673203535, 0, 'index', 3, '\x4c4f4e', 1795462673202979, 1795462673193019, 1795462677974136, 0, 0, 0, 2606572853, 38, NULL, '\x', '\x', '\x7b226964223a312c22636f6465223a224c4f4e222c227469746c65223a224c6f6e646f6e227d', 0, false);
INSERT INTO documents VALUES ('cities', '\x34', 1795462673312279, 0, 'index', 3, '\x4f534c', 1795462673312150, 1795462673312150, 1795462677974136, 0, 0, 0, 2537374502, 36, NULL, '\x', '\x', '\x7b226964223a342c22636f6465223a224f534c222c227469746c65223a224f736c6f227d', 0, false);
INSERT INTO documents VALUES ('cities', '\x524f4d', 1795462673226211, 0, 'index', 3, '\x524f4d', 1795462673224442, 1795462673224442, 1795462677974136, 0, 0, 0, 3782225959, 29, NULL, '\x', '\x', '\x7b22636f6465223a22524f4d222c227469746c65223a22526f6d65227d', 0, true);
INSERT INTO documents VALUES ('cities', '\x626164', 1795462673235108, 0, 'index', 4, '\x', 1795462673234664, 1795462673234664, 1795462677974136, 0, 0, 0, 1666266664, 29, NULL, '\x646f63756d656e745f70617273696e675f657863657074696f6e', '\x5b313a34355d206661696c656420746f207061727365206669656c64205b7469746c655d206f662074797065205b746578745d20696e20646f63756d656e7420776974682069642027626164272e2050726576696577206f66206669656c6427732076616c75653a20277b613d627d27', '\x7b226964223a22626164222c227469746c65223a22504f49534f4e227d', 0, false);
INSERT INTO documents VALUES ('cities', '\x33', 1795462685421917, 0, 'delete', 3, '\x424552', 1795462685421810, 1795462685421810, 1795462685922337, 0, 0, 0, 1733955977, 0, NULL, '\x', '\x', NULL, 1795462673211571, false);
INSERT INTO documents VALUES ('special-reports', '\x73', 1795462673247915, 0, 'index', 3, '\x', 1795462673247287, 1795462673247287, 1795462685989153, 0, 0, 0, 2971331676, 30, NULL, '\x', '\x', '\x7b226964223a2273222c227469746c65223a22456c656374696f6e73227d', 0, false);
INSERT INTO documents VALUES ('advisories', '\x62', 1795462685451405, 0, 'delete', 3, '\x', 1795462685451203, 1795462685451203, 1795462686553122, 0, 0, 0, 1508697105, 0, NULL, '\x', '\x', NULL, 0, false);
INSERT INTO documents VALUES ('cities', '\x32', 1795462693477748, 0, 'index', 2, '\x504152', 1795462693477574, 1795462693477574, 1795462693477574, 0, 0, 0, 1672065728, 44, NULL, '\x', '\x', '\x7b226964223a322c22636f6465223a22504152222c227469746c65223a2250617269732c206e65776572227d', 0, false);
INSERT INTO documents VALUES ('advisories', '\x61', 1795462693482241, 0, 'delete', 2, '\x', 1795462693481919, 1795462693481919, 1795462693481919, 0, 0, 0, 1808342306, 0, NULL, '\x', '\x', NULL, 0, false);
INSERT INTO documents VALUES ('special-reports', '\x74', 1795462693490830, 0, 'index', 2, '\x', 1795462693490570, 1795462693490570, 1795462693490570, 0, 0, 0, 3770493529, 28, NULL, '\x', '\x', '\x7b226964223a2274222c227469746c65223a22537472696b6573227d', 0, false);
INSERT INTO holds VALUES ('cities', 0, 2);
INSERT INTO holds VALUES ('probe', 0, 2);
INSERT INTO holds VALUES ('special-reports', 0, 2);
INSERT INTO holds VALUES ('advisories', 0, 2);
INSERT INTO ids VALUES ('line', 'F2QO6OUNSYXMO3C2V4VFPMWIQO');
INSERT INTO meta VALUES (true, 2, 533, 4);
INSERT INTO refusals OVERRIDING SYSTEM VALUE VALUES (1, 1795462673298729, 1795462673298418, 214, 'advisories', '\x505554', '\x2f61647669736f726965732f78', -1, '\x78', '\x78', '\x696e76616c69645f6a736f6e', '\x54686520626f6479206973206e6f74204a534f4e207468617420456c617374696373656172636820776f756c642074616b653a2074686520626f647920656e647320696e20746865206d6964646c65206f662061204a534f4e2076616c75652c206166746572206279746520312e', false, 1529003164, '\x7b');
INSERT INTO refusals OVERRIDING SYSTEM VALUE VALUES (2, 1795462673312280, 1795462673307054, 319, 'cities', '\x504f5354', '\x2f636974696573', 1, '\x', '\x', '\x6d697373696e675f6964', '\x546865207265636f726420686173206e6f2069643a20697420686f6c6473206e6f206e756d626572206f722074657874206174202f69642c202f5f69642c202f757569642c202f677569642c202f636974795f69642c202f6369747949642c202f617474726962757465732f69642c206e6f7220612074657874206174202f636f64652c202f636974795f636f64652c202f63697479436f64652c202f696174615f636f64652c202f69617461436f64652c202f696174612c202f617474726962757465732f636f64652e', false, 1072624857, '\x7b227469746c65223a22776974686f757420616e206964227d');
INSERT INTO riskdex_journal VALUES (5);
INSERT INTO totals VALUES (1, 'probe', 2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO totals VALUES (1, 'cities', 8, 1, 5, 1, 1, 1, 1, 0, 1, 1, 0);
INSERT INTO totals VALUES (1, 'advisories', 1, 2, 1, 1, 0, 0, 1, 0, 0, 2, 0);
INSERT INTO totals VALUES (1, 'special-reports', 2, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0);
SELECT pg_catalog.setval('processes_id_seq', 1, true);
SELECT pg_catalog.setval('refusals_seq_seq', 2, true);
SELECT pg_catalog.setval('versions', 1795462693490830, true);
ALTER TABLE ONLY documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (kind, id);
ALTER TABLE ONLY holds
    ADD CONSTRAINT holds_pkey PRIMARY KEY (kind);
ALTER TABLE ONLY ids
    ADD CONSTRAINT ids_pkey PRIMARY KEY (name);
ALTER TABLE ONLY loss
    ADD CONSTRAINT loss_pkey PRIMARY KEY (one);
ALTER TABLE ONLY meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (one);
ALTER TABLE ONLY processes
    ADD CONSTRAINT processes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY receipts
    ADD CONSTRAINT receipts_pkey PRIMARY KEY (sender, id);
ALTER TABLE ONLY refusals
    ADD CONSTRAINT refusals_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY totals
    ADD CONSTRAINT totals_pkey PRIMARY KEY (slot, kind);
CREATE INDEX documents_code ON documents USING btree (code, op) WHERE ((kind = 'cities'::text) AND (code <> '\x'::bytea));
CREATE INDEX documents_dead ON documents USING btree (kind, id) WHERE (state = 4);
CREATE INDEX documents_deleted ON documents USING btree (kind, accepted_at) WHERE ((op = 'delete'::text) AND (state = 3));
CREATE INDEX documents_unsettled ON documents USING btree (kind, state, waiting_since, version, id) WHERE (state = ANY (ARRAY[2, 5]));
CREATE INDEX receipts_at ON receipts USING btree (at);
CREATE INDEX refusals_document ON refusals USING btree (kind, sha256(folded), version);
