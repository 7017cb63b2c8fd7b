package transfer_test

import (
	"path/filepath"
	"testing"

	"riskdex/internal/postgres/postgrestest"
	"riskdex/internal/require"
	"riskdex/journal/internal/committest"
	"riskdex/report"
)

// lineOfNamed opens a journal, returns its line, and closes it again.
func lineOfNamed(t *testing.T, name string) string {
	t.Helper()
	j := openNamedTest(t, name)
	defer closeTest(t, j)
	return j.Lineage()
}

// TestOlderJournalsGetALine once, and lose nothing.
func TestOlderJournalsGetALine(t *testing.T) {
	for engine, c := range map[string]struct {
		name   string
		older  func(t *testing.T, name string)
		copied string // reported of a copy before it was opened
	}{
		"SQLite": {filepath.Join(t.TempDir(), "journal.db"), func(t *testing.T, path string) {
			execFile(t, path, "DROP INDEX documents_version; DROP INDEX origins_origin; ALTER TABLE totals DROP COLUMN dropped_version; DROP TABLE history; ALTER TABLE totals DROP COLUMN history; ALTER TABLE totals DROP COLUMN history_bytes; ALTER TABLE totals DROP COLUMN history_dropped; DROP TABLE loss; DROP TRIGGER namings_end; DROP TABLE namings; DROP TABLE ids; ALTER TABLE totals DROP COLUMN tombstones; ALTER TABLE totals DROP COLUMN tombstones_dropped; PRAGMA user_version = 3")
		}, "has schema version 3"},
		"PostgreSQL": {postgrestest.URL(t), func(t *testing.T, url string) {
			execPostgres(t, url, "DROP TABLE ids")
			execPostgres(t, url, "DROP TABLE loss")
			execPostgres(t, url, "DROP TABLE history")
			execPostgres(t, url, "ALTER TABLE totals DROP COLUMN history, DROP COLUMN history_bytes, DROP COLUMN history_dropped")
			execPostgres(t, url, "DROP INDEX documents_dropped; DROP INDEX documents_version; DROP INDEX documents_origin; ALTER TABLE totals DROP COLUMN dropped_version, DROP COLUMN bytes")
			execPostgres(t, url, "ALTER TABLE totals DROP COLUMN tombstones, DROP COLUMN tombstones_dropped")
			execPostgres(t, url, "ALTER TABLE documents DROP COLUMN kept, DROP COLUMN alone")
			execPostgres(t, url, "UPDATE riskdex_journal SET version = 1")
		}, "have version 1"},
	} {
		t.Run(engine, func(t *testing.T) {
			j := openNamedTest(t, c.name)
			filler{t, j}.put(report.Cities, "1", "{}")
			for _, d := range []report.Delivery{committest.Put("2", "{}"), committest.Delete("2")} {
				_, err := j.Append(t.Context(), d)
				require.NoError(t, err)
			}
			closeTest(t, j)
			c.older(t, c.name)
			wantNoCopy(t, t.Context(), c.name, filepath.Join(t.TempDir(), "copy.db"), c.copied)
			line := lineOfNamed(t, c.name)
			if got := lineOfNamed(t, c.name); got != line {
				t.Errorf("the journal has the line %s, and then %s", line, got)
			}
			j = openNamedTest(t, c.name)
			defer closeTest(t, j)
			if entries, err := j.Entries(t.Context(), report.Cities, "", 10); err != nil || len(entries) != 1 {
				t.Errorf("the journal has %v, %v; want its document", entries, err)
			}
			if s, err := j.Stats(t.Context()); err != nil || s.Kinds[report.Advisories].Tombstones != 1 || s.Kinds[report.Cities].Tombstones != 0 {
				t.Errorf("the tombstones are not counted: %+v, %v", s.Kinds, err)
			}
		})
	}
}
