package sqlite

import (
	"bytes"
	"database/sql"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/committest"
	"riskdex/report"
)

// releasedSchema1 is the schema that version 1 was released with.
const releasedSchema1 = `
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

var day1 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// version1 is a journal as version 1 left it: a city in each state, and two refusals that
// came after the city 3 and before the city 4.
func version1(t *testing.T) (path string, refusals []report.Refusal) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "journal.db")
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	exec("PRAGMA page_size = 4096")
	exec("PRAGMA journal_mode = WAL")
	exec(releasedSchema1)
	exec("PRAGMA application_id = 1919513451; PRAGMA user_version = 1")
	last := day1
	for i, state := range []int{commit.StatePending, commit.StateDone, commit.StateDone, commit.StateDead, commit.StateResend} {
		last = day1.Add(time.Duration(i) * time.Minute)
		c := report.Change{
			Key: report.Key{Kind: report.Cities, ID: report.ID(fmt.Sprint(i + 1))}, Op: report.Index, Code: fmt.Sprint("C", i+1),
			Version: report.Version(last.UnixMicro()), AcceptedAt: last, Body: []byte(strings.Repeat(fmt.Sprint(i), 10000)),
		}
		if i == 1 {
			c.Op, c.Body = report.Delete, nil
		}
		at := last.UnixMicro()
		exec(`INSERT INTO documents (kind, id, version, op, state, code, accepted_at, waiting_since, ended_at, crc, error_type, reason, body)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			string(c.Kind), string(c.ID), int64(c.Version), string(c.Op), state, c.Code, at, at, at, int64(commit.Checksum(c)), "type", "reason", c.Body)
	}
	for _, k := range report.Kinds() {
		exec("INSERT INTO totals (kind) VALUES (?)", string(k))
	}
	exec(`UPDATE totals SET indexes = 4, deletes = 1, indexed = 2, deleted = 1, dead = 1, pending = 1, resending = 1, dead_letters = 1 WHERE kind = 'cities'`)
	exec(`UPDATE meta SET value = ? WHERE name = 'last_version'`, last.UnixMicro())
	for i, body := range [][]byte{[]byte("{"), bytes.Repeat([]byte("x"), 64<<10)} {
		r := report.Refusal{
			Seq: int64(i + 7), At: day1.Add(150 * time.Second), Kind: report.Cities, Method: "PUT", Path: "/cities/c", Position: -1,
			ID: []string{"c3", ""}[i], Reason: "json", Detail: "no JSON", Body: body, Bytes: len(body), Cut: i == 1,
		}
		refusals = append(refusals, r)
		exec(`INSERT INTO refusals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.Seq, r.At.UnixMicro(), commit.RefusalBytes(r),
			string(r.Kind), r.Method, r.Path, r.Position, r.ID, r.Reason, r.Detail, r.Body)
	}
	return path, refusals
}

// TestMigrationKeepsAll opens a journal of version 1 twice: it has everything that was in
// it.
func TestMigrationKeepsAll(t *testing.T) {
	path, refusals := version1(t)
	if err := openTest(t, path, journal.Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	j := openTest(t, path, journal.Options{})
	checkTables(t, j)
	entries, err := j.Entries(t.Context(), report.Cities, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	var states []report.State
	for i, e := range entries {
		if want := report.Version(day1.Add(time.Duration(i) * time.Minute).UnixMicro()); e.Version != want {
			t.Errorf("%s has version %d, want %d", e.ID, e.Version, want)
		}
		states = append(states, e.State)
	}
	if want := []report.State{report.StatePending, report.StateSettled, report.StateSettled, report.StateDead, report.StateResending}; !slices.Equal(states, want) {
		t.Errorf("states %v, want %v", states, want)
	}
	if got := claimAll(t, j); len(got) != 2 || got[0].ID != "1" || got[1].ID != "5" || len(got[0].Body) != 10000 {
		t.Errorf("%d claimable, want the pending city", len(got))
	}
	l, err := j.DeadLetter(t.Context(), report.Key{Kind: report.Cities, ID: "4"})
	if err != nil || len(l.Body) != 10000 || l.ErrorType != "type" || l.Reason != "reason" {
		t.Errorf("the dead letter is %+v, %v", l, err)
	}
	for _, want := range refusals {
		if got, err := j.Refusal(t.Context(), want.Seq); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("refusal %d: %v, %v bytes, cut %t, %v", want.Seq, got.Path, got.Bytes, got.Cut, err)
		}
	}
	if s, err := j.Stats(t.Context()); err != nil || s.Refused != 2 {
		t.Errorf("%d refusals, %v", s.Refused, err)
	}
	checkProbe(t, j, path)
}

// checkProbe: a journal from before the probe existed counts it all the same, and still
// does after a restart.
func checkProbe(t *testing.T, j *Journal, path string) {
	t.Helper()
	mustAppend(t, j, report.Delivery{Changes: []report.Change{
		{Key: report.Key{Kind: report.Probe, ID: "probe"}, Op: report.Index, Body: []byte("{}")},
	}})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = openTest(t, path, journal.Options{})
	checkTables(t, j)
	s, err := j.Stats(t.Context())
	if k := s.Kinds[report.Probe]; err != nil || k.Accepted[report.Index] != 1 || k.Pending != 1 || k.OldestWaiting.IsZero() {
		t.Errorf("the sums of the probe are %+v, %v", k, err)
	}
}

// TestMigratedRefusals retries the refusals of version 1: they keep their place among the
// deliveries, and new refusals come after.
func TestMigratedRefusals(t *testing.T) {
	path, _ := version1(t)
	j := openTest(t, path, journal.Options{})
	d := report.Delivery{RetryOf: 8}
	for _, id := range []report.ID{"3", "4"} {
		d.Changes = append(d.Changes, report.Change{Key: report.Key{Kind: report.Cities, ID: id}, Op: report.Index, Body: []byte("{}")})
	}
	stamps, err := j.Append(t.Context(), d)
	if err != nil || stamps[0].Version == 0 || stamps[1].Version != 0 {
		t.Errorf("stamped %+v, %v, want the city 4 left out", stamps, err)
	}
	mustAppend(t, j, report.Delivery{Changes: d.Changes[:1]}) // clears the refusal of C3
	mustAppend(t, j, report.Delivery{Refusals: []report.Refusal{{Reason: "new"}}})
	got, err := j.Refusals(t.Context(), 0, 10)
	if err != nil || len(got) != 1 || got[0].Reason != "new" || got[0].Seq <= 8 {
		t.Errorf("kept %+v, %v", got, err)
	}
}

// TestMigrationIsOneStep: if the last part of a migration fails, the journal is
// unchanged.
func TestMigrationIsOneStep(t *testing.T) {
	path, _ := version1(t)
	execRaw(t, path, "CREATE INDEX refusals_document ON meta (value)")
	if _, err := Open(t.Context(), path, journal.Options{}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("version 1 to %d", schemaVersion)) {
		t.Fatalf("Open returned %v, want the failed migration", err)
	}
	execRaw(t, path, "DROP INDEX refusals_document")
	execRaw(t, path, "INSERT INTO refusals SELECT 9, at, bytes, kind, method, path, position, id, reason, detail, body FROM refusals WHERE seq = 7")
	j := openTest(t, path, journal.Options{})
	checkTables(t, j)
	if s, err := j.Stats(t.Context()); err != nil || s.Refused != 3 {
		t.Errorf("%d refusals, %v; want those of version 1", s.Refused, err)
	}
}

// These statements remove what versions 9, 8, 7 and 6 added, in this order.
const (
	withoutFeed    = "DROP INDEX documents_version; DROP INDEX origins_origin; ALTER TABLE totals DROP COLUMN dropped_version; DELETE FROM ids WHERE name = 'feed'; "
	withoutHistory = withoutFeed + "DROP TABLE history; ALTER TABLE totals DROP COLUMN history; ALTER TABLE totals DROP COLUMN history_bytes; ALTER TABLE totals DROP COLUMN history_dropped; "
	withoutLoss    = withoutHistory + "DROP TABLE loss; DELETE FROM ids WHERE name = 'file'; "
	withoutNamings = withoutLoss + "DROP TRIGGER namings_end; DROP TABLE namings; "
)

// TestCitiesOfBeforeAreAdopted: the journal is of a version that did not record what a
// city was called by.
func TestCitiesOfBeforeAreAdopted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	committest.CitiesOfBefore(t, func() journal.Journal { return openTest(t, path, journal.Options{}) }, func() {
		execRaw(t, path, withoutNamings+"PRAGMA user_version = 5")
	})
}

// TestMigrationFromVersion2: what version 3 added removes nothing.
func TestMigrationFromVersion2(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path, journal.Options{})
	mustAppend(t, j, report.Delivery{
		Changes:  []report.Change{{Key: report.Key{Kind: report.Cities, ID: "1"}, Op: report.Index, Body: []byte("{}")}},
		Refusals: []report.Refusal{{Reason: "kept"}},
	})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	execRaw(t, path, "DROP TABLE traces; DROP TABLE receipts; DELETE FROM totals WHERE kind = 'probe'; "+withoutNamings+"DROP TABLE ids; ALTER TABLE totals DROP COLUMN tombstones; ALTER TABLE totals DROP COLUMN tombstones_dropped; PRAGMA user_version = 2")
	j = openTest(t, path, journal.Options{})
	checkTables(t, j)
	if got := claimAll(t, j); len(got) != 1 || got[0].ID != "1" {
		t.Errorf("claimable: %+v, want city 1", got)
	}
	if s, err := j.Stats(t.Context()); err != nil || s.Refused != 1 {
		t.Errorf("%d refusals, %v", s.Refused, err)
	}
	checkProbe(t, j, path)
}
