// Package conformance tests every promise of package journal against both engines, through what
// they offer everybody, and measures them beside each other.
package conformance

import (
	"os"
	"path/filepath"
	"testing"

	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/postgres"
	"riskdex/journal/sqlite"
)

// opener opens the journal in the folder dir with these options, as a starting process
// would. It fails the test if it cannot. The suite closes the journal and opens the same
// folder again.
type opener func(t testing.TB, dir string, opt journal.Options) journal.Journal

var engines = []struct {
	name string
	open opener
}{{"SQLite", openSQLite}, {"PostgreSQL", openPostgres}}

func openSQLite(t testing.TB, dir string, opt journal.Options) journal.Journal {
	folder := filepath.Join(dir, "a folder")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	j, err := sqlite.Open(t.Context(), filepath.Join(folder, "risk?dex#1%20.db"), opt)
	require.NoError(t, err)
	return j
}

// openPostgres keeps the address of a schema in the folder, which stands for it.
func openPostgres(t testing.TB, dir string, opt journal.Options) journal.Journal {
	file := filepath.Join(dir, "address")
	address, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		address = []byte(postgrestest.URL(t))
		err = os.WriteFile(file, address, 0o600)
	}
	require.NoError(t, err)
	j, err := postgres.Open(t.Context(), string(address), opt)
	require.NoError(t, err)
	return j
}

// onEachEngine runs a test on an empty journal of each engine.
func onEachEngine(t *testing.T, run func(t *testing.T, h *harness)) {
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) { run(t, newHarness(t, e.open, journal.Options{})) })
	}
}

// benchmarkEngines measures each engine.
func benchmarkEngines(b *testing.B, run func(b *testing.B, open func(journal.Options) journal.Journal)) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			run(b, func(opt journal.Options) journal.Journal {
				j := e.open(b, b.TempDir(), opt)
				b.Cleanup(func() { j.Close() })
				return j
			})
		})
	}
}
