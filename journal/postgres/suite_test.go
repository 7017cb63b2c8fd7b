package postgres_test

import (
	"os"
	"sync"
	"testing"

	"riskdex/internal/postgres/postgrestest"
	"riskdex/journal"
	"riskdex/journal/journaltest"
	"riskdex/journal/postgres"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m.Run)) }

func TestPostgres(t *testing.T) { journaltest.Run(t, openSchemas()) }

// TestPostgresTogether runs the tests of processes that share a journal.
func TestPostgresTogether(t *testing.T) { journaltest.RunTogether(t, openSchemas()) }

// openSchemas opens journals for the suite, whose folders stand for schemas.
func openSchemas() journaltest.Open {
	var mu sync.Mutex
	schemas := map[string]string{}
	schema := func(t testing.TB, dir string) string {
		mu.Lock()
		defer mu.Unlock() // URL may skip the test
		if schemas[dir] == "" {
			schemas[dir] = postgrestest.URL(t)
		}
		return schemas[dir]
	}
	return func(t testing.TB, dir string, opt journal.Options) journal.Journal {
		j, err := postgres.Open(t.Context(), schema(t, dir), opt)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
}
