package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"riskdex/internal/require"
	"riskdex/journal"
	"riskdex/journal/journaltest"
	"riskdex/journal/sqlite"
)

func TestSQLite(t *testing.T) {
	journaltest.Run(t, func(t testing.TB, dir string, opt journal.Options) journal.Journal {
		folder := filepath.Join(dir, "a folder")
		require.NoError(t, os.MkdirAll(folder, 0o700))
		j, err := sqlite.Open(t.Context(), filepath.Join(folder, "risk?dex#1%20.db"), opt)
		if err != nil {
			t.Fatal(err)
		}
		return j
	})
}
