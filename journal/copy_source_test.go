package journal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"riskdex/internal/postgres/postgrestest"
)

// TestCopyToTablesThatAreThere copies to a journal of which nothing was ever made, and
// which has given out a version that it does not have any longer.
func TestCopyToTablesThatAreThere(t *testing.T) {
	from, to := filled(t, filepath.Join(t.TempDir(), "journal.db")), setUpOnly(t, postgrestest.URL(t))
	execPostgres(t, to, "SELECT setval('versions', 9000000000000000)")
	made, err := Copy(t.Context(), from, to, nil)
	if err != nil {
		t.Fatal(err)
	}
	made.LastVersion = 9000000000000000
	goesOn(t, to, made)
}

// TestNobodyWritesWhileItIsCopied looks, while a journal is copied, whether another
// process could write it, or become one of its processes.
func TestNobodyWritesWhileItIsCopied(t *testing.T) {
	for name, table := range map[string]string{"a change": "documents", "a process": "processes"} {
		t.Run(name, func(t *testing.T) {
			from, asked := filled(t, postgrestest.URL(t)), 0
			_, err := Copy(t.Context(), from, filepath.Join(t.TempDir(), "copy.db"), func(CopyProgress) {
				asked++
				conn, err := pgx.Connect(t.Context(), from)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close(context.Background())
				_, err = conn.Exec(t.Context(), "SET lock_timeout = 1; DELETE FROM "+table)
				if code(err) != "55P03" { // lock_not_available
					t.Errorf("%v", err)
				}
				var free bool
				if err := conn.QueryRow(t.Context(), "SELECT pg_try_advisory_xact_lock("+setUpLock+")").Scan(&free); err != nil || free {
					t.Errorf("a riskdex could begin to set it up: %v", err)
				}
			})
			if err != nil || asked == 0 {
				t.Error(asked, err)
			}
		})
	}
	t.Run("SQLite", func(t *testing.T) {
		from, asked := filled(t, filepath.Join(t.TempDir(), "journal.db")), 0
		_, err := Copy(t.Context(), from, filepath.Join(t.TempDir(), "copy.db"), func(CopyProgress) {
			asked++
			if j, err := OpenSQLite(t.Context(), from, Options{}); err == nil {
				t.Error("it could be opened", j.Close())
			}
		})
		if err != nil || asked == 0 {
			t.Error(asked, err)
		}
	})
}

// TestCopyChangesNothing compares the file of a journal before and after. Its process was
// killed, so that most of it is in its log.
func TestCopyChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	w := startWriter(t, path)
	w.waitFor(t, 100)
	w.kill()
	state := func() (all string) {
		for _, suffix := range []string{"", "-wal", witnessSuffix} {
			b, err := os.ReadFile(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			all += string(b)
		}
		return all
	}
	before := state()
	to := filepath.Join(t.TempDir(), "copy.db")
	if _, err := Copy(t.Context(), path, to, nil); err != nil {
		t.Fatal(err)
	}
	if state() != before {
		t.Error("the journal is not what it was")
	}
	onlyFile(t, to)
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	checkSurvivor(t, to, w.acks)
}

// TestCopyOfLostChanges copies a journal that lacks what it had acknowledged.
func TestCopyOfLostChanges(t *testing.T) {
	from, to := filled(t, filepath.Join(t.TempDir(), "journal.db")), postgrestest.URL(t)
	w, err := openWitness(from)
	if err != nil {
		t.Fatal(err)
	}
	const later = 9000000000000000
	if err := errors.Join(w.note(later), w.close()); err != nil {
		t.Fatal(err)
	}
	made, err := Copy(t.Context(), from, to, nil)
	if err != nil || made.LastVersion != later || made.Loss.Until.UnixMicro() != later || !made.Loss.Since.Before(made.Loss.Until) || made.Loss.Since.IsZero() {
		t.Fatalf("%+v, %v", made, err)
	}
	goesOn(t, to, made)
}
