package postgres

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
			j := process(t, kept(t, name), silent(), journal.Options{})
			sumsHold(t, j)
			committest.KeptJournal(t, j)
		})
	}
}

// kept returns the URL of a database with the journal that a file has.
func kept(t *testing.T, name string) string {
	t.Helper()
	dump, err := os.ReadFile(name)
	require.NoError(t, err)
	url := postgrestest.URL(t)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	_, err = conn.PgConn().Exec(t.Context(), string(dump)).ReadAll()
	require.NoError(t, err)
	require.NoError(t, conn.Close(context.Background()))
	return url
}

// TestTablesAreChangedBesideAnEarlierVersion: a process of an earlier riskdex has locks that the
// change of the tables waits for, and then wants those that the change has.
func TestTablesAreChangedBesideAnEarlierVersion(t *testing.T) {
	t.Parallel()
	url := kept(t, "testdata/schema-5.sql")
	earlier, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = earlier.Close(context.Background()) }()
	do := func(statement string) {
		t.Helper()
		_, err := earlier.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	do("SET deadlock_timeout = '1min'") // so that PostgreSQL ends the other transaction
	do("BEGIN")
	do("LOCK TABLE totals IN ROW EXCLUSIVE MODE")
	opened := make(chan error, 1)
	go func() {
		j, err := Open(t.Context(), url, journal.Options{})
		if err == nil {
			err = j.Close()
		}
		opened <- err
	}()
	require.Eventually(t, time.Minute, "the change waits", func() bool {
		var waits bool
		err := earlier.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'totals'::regclass)").Scan(&waits)
		return err == nil && waits
	})
	do("LOCK TABLE documents IN ROW EXCLUSIVE MODE")
	do("COMMIT")
	require.NoError(t, <-opened)
}
