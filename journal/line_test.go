package journal

import (
	"path/filepath"
	"testing"

	"riskdex/internal/postgres/postgrestest"
	"riskdex/report"
)

// lineOf opens a journal, and closes it again.
func lineOf(t *testing.T, name string) string {
	t.Helper()
	j := openNamedTest(t, name)
	defer closeTest(t, j)
	if len(j.Line()) < 26 { // 128 bits in base 32
		t.Errorf("%q is not much of an id", j.Line())
	}
	return j.Line()
}

// TestCopiesKeepTheLine: what is made of a journal may take its place. TestCopy has the
// copies from engine to engine.
func TestCopiesKeepTheLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	want := lineOf(t, path)

	backup := filepath.Join(t.TempDir(), "backup.db")
	if _, err := BackupSQLite(t.Context(), path, backup, nil); err != nil {
		t.Fatal(err)
	}
	if got := lineOf(t, backup); got != want {
		t.Errorf("the backup has the line %s, want %s", got, want)
	}

	if err := suspect(path); err != nil {
		t.Fatal(err)
	}
	if got := lineOf(t, path); got != want {
		t.Errorf("copied afresh after an I/O error it has the line %s, want %s", got, want)
	}
}

// TestOlderJournalsGetALine, once, and lose nothing.
func TestOlderJournalsGetALine(t *testing.T) {
	for engine, c := range map[string]struct {
		name   string
		older  func(t *testing.T, name string)
		copied string // what is said of a copy before it was opened
	}{
		"SQLite": {filepath.Join(t.TempDir(), "journal.db"), func(t *testing.T, path string) {
			execRaw(t, path, withoutNamings+"DROP TABLE ids; ALTER TABLE totals DROP COLUMN tombstones; ALTER TABLE totals DROP COLUMN tombstones_dropped; PRAGMA user_version = 3")
		}, "has schema version 3"},
		"PostgreSQL": {postgrestest.URL(t), func(t *testing.T, url string) {
			execPostgres(t, url, "DROP TABLE ids")
			execPostgres(t, url, "DROP TABLE loss")
			execPostgres(t, url, "ALTER TABLE totals DROP COLUMN tombstones, DROP COLUMN tombstones_dropped")
			execPostgres(t, url, "ALTER TABLE documents DROP COLUMN kept, DROP COLUMN alone")
			execPostgres(t, url, "UPDATE riskdex_journal SET version = 1")
		}, "have version 1"},
	} {
		t.Run(engine, func(t *testing.T) {
			j := openNamedTest(t, c.name)
			filler{t, j}.put(report.Cities, "1", "{}")
			for _, d := range []report.Delivery{put("2", "{}"), del("2")} {
				_, err := j.Append(t.Context(), d)
				must(t, err)
			}
			closeTest(t, j)
			c.older(t, c.name)
			wantNoCopy(t, t.Context(), c.name, filepath.Join(t.TempDir(), "copy.db"), c.copied)
			line := lineOf(t, c.name)
			if got := lineOf(t, c.name); got != line {
				t.Errorf("it has the line %s, and then %s", line, got)
			}
			j = openNamedTest(t, c.name)
			defer closeTest(t, j)
			if entries, err := j.Entries(t.Context(), report.Cities, "", 10); err != nil || len(entries) != 1 {
				t.Errorf("%v, %v", entries, err)
			}
			if s, err := j.Stats(t.Context()); err != nil || s.Kinds[report.Advisories].Tombstones != 1 || s.Kinds[report.Cities].Tombstones != 0 {
				t.Errorf("its tombstones are not counted: %+v, %v", s.Kinds, err)
			}
		})
	}
}

// TestProcessesShareTheLine of their journal.
func TestProcessesShareTheLine(t *testing.T) {
	url := postgrestest.URL(t)
	j := openNamedTest(t, url)
	defer closeTest(t, j)
	if got := lineOf(t, url); got != j.Line() {
		t.Errorf("the lines are %s and %s", j.Line(), got)
	}
}
