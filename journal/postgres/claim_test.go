package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/journal"
	"riskdex/journal/postgres"
	"riskdex/report"
)

// A Claim reads what it gives out, and not everything that is pending: otherwise a longer
// backlog would drain more slowly.
func TestPostgresClaimReadsFewRows(t *testing.T) {
	const backlog, claims, each = 20_000, 20, 10
	url := postgrestest.URL(t)
	j, err := postgres.Open(t.Context(), url, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	var d report.Delivery
	for n := range backlog {
		d.Changes = append(d.Changes, report.Change{
			Key: report.Key{Kind: report.Advisories, ID: report.ID(fmt.Sprint(n))}, Op: report.Index, Body: []byte(`{}`),
		})
	}
	if _, err := j.Append(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	if _, err := conn.Exec(t.Context(), "VACUUM ANALYZE documents"); err != nil {
		t.Fatal(err)
	}
	// Of the rows that were read: a connection reports its counts with a delay, and all
	// at once.
	looked := func() (rows int) {
		if err := conn.QueryRow(t.Context(), `SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
			FROM pg_stat_user_tables WHERE relid = 'documents'::regclass`).Scan(&rows); err != nil {
			t.Fatal(err)
		}
		return rows
	}
	before := looked()
	for range claims {
		changes, err := j.Claim(t.Context(), report.Advisories, each, 1<<20)
		if err != nil || len(changes) != each {
			t.Fatalf("%d changes, %v", len(changes), err)
		}
	}
	for deadline := time.Now().Add(time.Minute); looked()-before < claims*each; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("PostgreSQL does not report the rows that were read")
		}
	}
	if rows := looked() - before; rows > backlog {
		t.Errorf("to claim %d changes, %d rows were read", claims*each, rows)
	}
}
