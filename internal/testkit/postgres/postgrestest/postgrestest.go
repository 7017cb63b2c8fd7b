// Package postgrestest gives tests a real PostgreSQL.
//
// A package whose tests need one has a TestMain that calls [Main], and its tests call
// [URL]. Without a server the tests fail: only a short run skips them.
package postgrestest

import (
	"context"
	"errors"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"

	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/postgres"
)

// testURLVariable names a server for the tests, which otherwise start one.
const testURLVariable = "RISKDEX_TEST_POSTGRES_URL"

var server = needs.Server{Name: "PostgreSQL", Variable: testURLVariable, Start: start}

// Main runs the tests of a package and returns the exit status. It stops the server
// that [URL] has started when the tests have run. run is what runs the tests, such as
// m.Run.
func Main(run func() int) int { return server.Main(run) }

func start() (url string, stop func() error, err error) {
	s, err := postgres.New(context.Background())
	if err != nil {
		return "", nil, err
	}
	if err := s.Start(context.Background()); err != nil {
		return "", nil, errors.Join(err, s.Remove())
	}
	return s.URL(), func() error { return errors.Join(s.Stop(), s.Remove()) }, nil
}

// Start starts a server for one test, which the test may kill and start again.
func Start(t testing.TB, settings ...string) *postgres.Server {
	t.Helper()
	needs.FullRun(t, "PostgreSQL")
	server, err := postgres.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	Own(t, server)
	if err := server.Start(t.Context(), settings...); err != nil {
		t.Fatal(err)
	}
	return server
}

// Own ends a server with the test.
func Own(t testing.TB, server *postgres.Server) {
	t.Cleanup(func() {
		if err := errors.Join(server.Stop(), server.Remove()); err != nil {
			t.Error(err)
		}
	})
}

// Pooler starts a PgBouncer in front of a server, with settings such as "pool_mode = session". It
// ends with the test.
func Pooler(t testing.TB, server *postgres.Server, settings ...string) *postgres.Pooler {
	t.Helper()
	p, err := postgres.NewPooler(needs.Program(t, "pgbouncer", "apt-get install pgbouncer"), server, settings...)
	if err == nil {
		t.Cleanup(func() {
			if err := p.Remove(); err != nil {
				t.Error(err)
			}
		})
		err = p.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// URL returns the address of a new, empty schema on the server that the tests share: that
// of RISKDEX_TEST_POSTGRES_URL, or one that starts when the first test asks. The schema is
// dropped with the test.
func URL(t testing.TB) string {
	t.Helper()
	return Schema(t, server.URL(t))
}

// Schema creates a schema for a test in a database, and returns its address.
func Schema(t testing.TB, address string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var schema string
	err = conn.QueryRow(t.Context(), "SELECT 'test_' || replace(gen_random_uuid()::text, '-', '')").Scan(&schema)
	if err == nil {
		_, err = conn.Exec(t.Context(), "CREATE SCHEMA "+schema)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { drop(t, address, schema) })
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	return u.String()
}

func drop(t testing.TB, address, schema string) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return // the server is gone, and with it the schema
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "DROP SCHEMA "+schema+" CASCADE"); err != nil {
		t.Error(err)
	}
}
