package transfer_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/journal"
	"riskdex/journal/postgres"
	"riskdex/journal/sqlite"
	"riskdex/journal/transfer"
	"riskdex/report"
)

// TestCopyInterrupted cancels the context during the copy and during the check, and then
// copies to the same place.
func TestCopyInterrupted(t *testing.T) {
	from := filled(t, filepath.Join(t.TempDir(), "journal.db"))
	for name, where := range engines() {
		for _, checking := range []bool{false, true} {
			to := where(t)
			ctx, cancel := context.WithCancel(t.Context())
			_, err := copyJournal(ctx, from, to, func(p transfer.Progress) {
				if p.Checking == checking {
					cancel()
				}
			})
			if !errors.Is(err, context.Canceled) && (err == nil || !strings.Contains(err.Error(), "interrupted")) {
				t.Errorf("%s, checking %v: %v", name, checking, err)
			}
			nothingAt(t, to)
			if r, err := copyJournal(t.Context(), from, to, nil); err != nil || r.Documents == 0 {
				t.Errorf("%s, checking %v: the second copy reported %+v, %v", name, checking, r, err)
			}
		}
	}
}

// nothingAt checks that there is no file, or table, where the copy was to be.
func nothingAt(t *testing.T, name string) {
	t.Helper()
	if !postgres.IsURL(name) {
		journaltest.CheckFolder(t, filepath.Dir(name), nil)
	} else if n := tablesOf(t, name); n != 0 {
		t.Errorf("%d tables are left, want none", n)
	}
}

// TestCopyWhoseConnectionIsLost: the server ends the connection during the copy and
// during the check, and has nothing of the copy.
func TestCopyWhoseConnectionIsLost(t *testing.T) {
	from := filled(t, filepath.Join(t.TempDir(), "journal.db"))
	for _, checking := range []bool{false, true} {
		to := postgrestest.Start(t).URL()
		lost := false
		_, err := copyJournal(t.Context(), from, to, func(p transfer.Progress) {
			if p.Checking == checking && !lost {
				lost = true
				endConnections(t, to)
			}
		})
		if err == nil || !lost {
			t.Fatalf("checking %v: %v, %v", checking, lost, err)
		}
		nothingAt(t, to)
		if r, err := copyJournal(t.Context(), from, to, nil); err != nil || r.Documents == 0 {
			t.Errorf("the second copy reported %+v, %v", r, err)
		}
	}
}

// endConnections ends the connections of riskdex, and waits until they have ended.
func endConnections(t *testing.T, url string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for n, first := 1, true; n > 0; first = false {
		err := conn.QueryRow(t.Context(), "SELECT count(*), count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE 'riskdex%'").Scan(&n, nil)
		if err != nil || first && n == 0 {
			t.Fatal(n, err)
		}
	}
}

// TestHalfACopyIsNoJournal opens the file that is left if a copy is killed.
func TestHalfACopyIsNoJournal(t *testing.T) {
	from, dir := filepath.Join(t.TempDir(), "journal.db"), t.TempDir()
	j := openNamedTest(t, from)
	for id := range strings.SplitSeq("abcdefghijklmnopqrstuvwxyzabcd", "") {
		filler{t, j}.put(report.Advisories, report.ID(id), strings.Repeat("x", 2<<20)) // more than fits in the cache
	}
	closeTest(t, j)
	looked := false
	for _, left := range []string{"copy.db.partial-1", "copy.db.partial-1-journal"} { // of a copy that was killed
		journaltest.WriteFile(t, filepath.Join(dir, left), "half")
	}
	if _, err := copyJournal(t.Context(), from, filepath.Join(dir, "copy.db"), func(p transfer.Progress) {
		if p.Checking || p.Done < 24 || p.Done == p.Total {
			return
		}
		found, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(found) != 1 || !strings.Contains(found[0], "copy.db.partial-") {
			t.Fatal(found, err)
		}
		half, err := os.ReadFile(found[0])
		if err != nil || len(half) == 0 {
			t.Fatal(len(half), err)
		}
		path := filepath.Join(t.TempDir(), "half.db")
		journaltest.WriteFile(t, path, string(half))
		if j, err := sqlite.Open(t.Context(), path, journal.Options{}); err == nil {
			t.Error("half a copy was taken for a journal", j.Close())
		}
		looked = true
	}); err != nil || !looked {
		t.Error(looked, err)
	}
}
