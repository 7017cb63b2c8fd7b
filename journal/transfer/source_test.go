package transfer_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/journal/transfer"
)

// TestCopyToTablesThatAreThere copies to a journal that nothing was delivered to, and to
// one that has given out a version that it no longer has.
func TestCopyToTablesThatAreThere(t *testing.T) {
	from, to := filled(t, filepath.Join(t.TempDir(), "journal.db")), setUpOnly(t, postgrestest.URL(t))
	execPostgres(t, to, "SELECT setval('versions', 9000000000000000)")
	made, err := copyJournal(t.Context(), from, to, nil)
	if err != nil {
		t.Fatal(err)
	}
	made.LastVersion = 9000000000000000
	goesOn(t, to, made)
}

// TestNobodyWritesWhileItIsCopied: while a journal is copied, no other process can write
// it or join it.
func TestNobodyWritesWhileItIsCopied(t *testing.T) {
	for name, table := range map[string]string{"a change": "documents", "a process": "processes"} {
		t.Run(name, func(t *testing.T) {
			from, asked := filled(t, postgrestest.URL(t)), 0
			_, err := copyJournal(t.Context(), from, filepath.Join(t.TempDir(), "copy.db"), func(transfer.Progress) {
				asked++
				conn, err := pgx.Connect(t.Context(), from)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close(context.Background())
				_, err = conn.Exec(t.Context(), "SET lock_timeout = 1; DELETE FROM "+table)
				if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "55P03" { // lock_not_available
					t.Errorf("a write returned %v, want a lock timeout", err)
				}
				var free bool
				if err := conn.QueryRow(t.Context(), "SELECT pg_try_advisory_xact_lock(hashtextextended('riskdex ' || current_schema(), 0))").Scan(&free); err != nil || free {
					t.Errorf("a riskdex could join the journal: %v", err)
				}
			})
			if err != nil || asked == 0 {
				t.Error(asked, err)
			}
		})
	}
	t.Run("SQLite", func(t *testing.T) {
		from, asked := filled(t, filepath.Join(t.TempDir(), "journal.db")), 0
		_, err := copyJournal(t.Context(), from, filepath.Join(t.TempDir(), "copy.db"), func(transfer.Progress) {
			asked++
			if j, err := sqlite.Open(t.Context(), from, journal.Options{}); err == nil {
				t.Error("the file could be opened during the copy", j.Close())
			}
		})
		if err != nil || asked == 0 {
			t.Error(asked, err)
		}
	})
}
