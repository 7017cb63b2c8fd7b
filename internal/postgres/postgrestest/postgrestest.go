// Package postgrestest gives tests a real PostgreSQL.
//
// A package whose tests need one has a TestMain that calls [Main], and its tests call
// [URL]. Without a server the tests fail: they are never skipped.
package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"riskdex/internal/postgres"
)

// TestURLVariable names a server for the tests, which otherwise start one.
const TestURLVariable = "RISKDEX_TEST_POSTGRES_URL"

// Main runs the tests of a package with a PostgreSQL, and returns the exit status.
// run is what runs the tests, such as m.Run.
func Main(run func() int) int {
	if os.Getenv(TestURLVariable) != "" {
		return run()
	}
	status := 1
	err := withServer(func(address string) error {
		if err := os.Setenv(TestURLVariable, address); err != nil {
			return err
		}
		status = run()
		return os.Unsetenv(TestURLVariable)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "PostgreSQL for the tests:", err)
		return max(status, 1)
	}
	return status
}

func withServer(use func(address string) error) (err error) {
	server, err := postgres.New(context.Background())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Remove()) }()
	if err := server.Start(context.Background()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	return use(server.URL())
}

// Start starts a server for one test, to be killed and started again at will.
func Start(t testing.TB, settings ...string) *postgres.Server {
	t.Helper()
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

// Own has a server end with the test.
func Own(t testing.TB, server *postgres.Server) {
	t.Cleanup(func() {
		if err := errors.Join(server.Stop(), server.Remove()); err != nil {
			t.Error(err)
		}
	})
}

// URL is the address of an empty schema of its own on the server that [Main] provides.
// The schema goes with the test.
func URL(t testing.TB) string {
	t.Helper()
	address := os.Getenv(TestURLVariable)
	if address == "" {
		t.Fatalf("no PostgreSQL: %s is not set, and TestMain does not call postgrestest.Main", TestURLVariable)
	}
	return Schema(t, address)
}

// Schema makes a schema for a test in a database, and returns its address.
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
