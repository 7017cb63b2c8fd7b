package postgres

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"riskdex/internal/postgres/postgrestest"
	"riskdex/internal/require"
	"riskdex/journal"
	"riskdex/journal/internal/committest"
)

// execURL changes the tables of a closed journal.
func execURL(t *testing.T, url string, queries ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	for _, query := range queries {
		_, err := conn.Exec(t.Context(), query)
		require.NoError(t, err)
	}
}

// withoutFeed removes what versions 7, 9 and 10 added.
const withoutFeed = "DROP INDEX documents_dropped; DROP INDEX documents_version; DROP INDEX documents_origin; ALTER TABLE totals DROP COLUMN dropped_version, DROP COLUMN bytes"

// TestCitiesOfBeforeAreAdopted: the journal is of a version that did not record what a
// city was called by.
func TestCitiesOfBeforeAreAdopted(t *testing.T) {
	url := postgrestest.URL(t)
	committest.CitiesOfBefore(t, func() journal.Journal { return process(t, url, silent(), journal.Options{}) }, func() {
		execURL(t, url, withoutFeed, "DROP TABLE history", "ALTER TABLE totals DROP COLUMN history, DROP COLUMN history_bytes, DROP COLUMN history_dropped", "DROP TABLE loss", "ALTER TABLE documents DROP COLUMN kept, DROP COLUMN alone", "UPDATE riskdex_journal SET version = 3")
	})
}

// TestProcessesShareTheLine of their journal.
func TestProcessesShareTheLine(t *testing.T) {
	_, both := processes(t, 2, silent())
	if len(both[0].Lineage()) < 26 || both[0].Lineage() != both[1].Lineage() {
		t.Errorf("the lines are %s and %s", both[0].Lineage(), both[1].Lineage())
	}
}
