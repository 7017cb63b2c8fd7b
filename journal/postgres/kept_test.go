package postgres

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"riskdex/internal/postgres/postgrestest"
	"riskdex/internal/require"
	"riskdex/journal"
	"riskdex/journal/internal/committest"
)

// Journals that the programs of older schemas have written are opened, read and continued.
func TestKeptJournals(t *testing.T) {
	files, err := filepath.Glob("testdata/schema-*.sql")
	require.NoError(t, err)
	if len(files) < 4 {
		t.Errorf("the journals kept are %q", files)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".sql"), func(t *testing.T) {
			dump, err := os.ReadFile(name)
			require.NoError(t, err)
			url := postgrestest.URL(t)
			conn, err := pgx.Connect(t.Context(), url)
			require.NoError(t, err)
			_, err = conn.PgConn().Exec(t.Context(), string(dump)).ReadAll()
			require.NoError(t, err)
			require.NoError(t, conn.Close(context.Background()))
			committest.KeptJournal(t, process(t, url, silent(), journal.Options{}))
		})
	}
}
