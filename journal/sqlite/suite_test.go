package sqlite_test

import (
	"path/filepath"
	"testing"

	"riskdex/journal"
	"riskdex/journal/journaltest"
	"riskdex/journal/sqlite"
)

func TestSQLite(t *testing.T) {
	journaltest.Run(t, func(t testing.TB, dir string, opt journal.Options) journal.Journal {
		j, err := sqlite.Open(t.Context(), filepath.Join(dir, "a folder", "risk?dex#1%20.db"), opt)
		if err != nil {
			t.Fatal(err)
		}
		return j
	})
}
