package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"riskdex/internal/testkit/journaltest"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/journal/internal/tables"
	"riskdex/report"
)

func openTest(t *testing.T, path string, opt journal.Options) *Journal {
	t.Helper()
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	j, err := Open(context.Background(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return j
}

// execRaw changes the file of a journal past it: through a connection of its own, since the
// journal's are busy with what it does after it has answered.
func execRaw(t *testing.T, path, query string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatal(err)
	}
}

func mustAppend(t *testing.T, j *Journal, d report.Delivery) {
	t.Helper()
	if _, err := j.Append(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

// checkTables checks that the totals on disk agree with the documents on disk.
func checkTables(t *testing.T, j *Journal) {
	t.Helper()
	var wrong int
	err := j.e.readers.QueryRow(`SELECT count(*) FROM totals t WHERE
		indexes + deletes <> indexed + deleted + superseded + dead + pending
		OR pending <> (SELECT count(*) FROM documents d WHERE d.kind = t.kind AND state = 2)
		OR resending <> (SELECT count(*) FROM documents d WHERE d.kind = t.kind AND state = 5)
		OR dead_letters <> (SELECT count(*) FROM documents d WHERE d.kind = t.kind AND state = 4)`).Scan(&wrong)
	if err != nil || wrong != 0 {
		t.Errorf("the totals of %d kinds do not fit the documents: %v", wrong, err)
	}
}

func TestOneProcessOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	openTest(t, path, journal.Options{})
	if _, err := Open(t.Context(), path, journal.Options{}); err == nil || !strings.Contains(err.Error(), "already open in process") {
		t.Errorf("a second Open returned %v, want that the journal is already open", err)
	}
}

// TestFolderIsNotMade: it may be one on a volume that is not mounted.
func TestFolderIsNotMade(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	path := filepath.Join(folder, "journal.db")
	_, open := Open(t.Context(), path, journal.Options{})
	_, inspect := Inspect(t.Context(), path)
	for _, err := range []error{open, inspect} {
		if err == nil || !strings.Contains(err.Error(), "mkdir -p -m 700 "+folder) {
			t.Errorf("a journal in a folder that is not there: %v", err)
		}
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the folder is there: %v", err)
	}
}

func TestFilesArePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	mustAppend(t, openTest(t, path, journal.Options{}), journaltest.Put("1", "{}"))
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		info, err := os.Stat(path + suffix)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v; want 0600", path+suffix, info.Mode(), err)
		}
	}
}

// TestCloseLeavesOneFile: after Close everything is in the database file, so that copying
// it is a backup, and SQLite has closed it.
func TestCloseLeavesOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path, journal.Options{})
	mustAppend(t, j, journaltest.Put("1", "{}"))
	if _, err := j.Stats(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(path + "*")
	if err != nil || len(left) != 3 || left[0] != path || left[1] != path+watermarkSuffix || left[2] != path+".lock" {
		t.Errorf("files left behind: %v, %v", left, err)
	}
}

func TestForeignFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	newer, other, text := filepath.Join(dir, "newer.db"), filepath.Join(dir, "other.db"), filepath.Join(dir, "text")
	openTest(t, newer, journal.Options{}).Close()
	execRaw(t, newer, fmt.Sprint("PRAGMA user_version = ", tables.Version+1))
	execRaw(t, other, "CREATE TABLE t (x)")
	if err := os.WriteFile(text, bytes.Repeat([]byte("text\n"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{newer: "use the riskdex that made it", other: "no riskdex journal", text: "not a database"} {
		if _, err := Open(t.Context(), path, journal.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Open returned %v, want %q", path, err, want)
		}
	}
	execRaw(t, newer, fmt.Sprint("PRAGMA user_version = ", tables.Version))
	openTest(t, newer, journal.Options{}) // the lock was released
}

// TestSynchronous checks that the WAL was synced before an answer, and the level at which
// SQLite syncs everything else.
func TestSynchronous(t *testing.T) {
	j := openIdle(t, filepath.Join(t.TempDir(), "journal.db"))
	var syncs atomic.Int64
	disk := j.e.sync
	j.e.sync = func() error {
		syncs.Add(1)
		return disk()
	}
	start(t, j)
	synced := func(before string, want int64) {
		t.Helper()
		if got := syncs.Swap(0); got != want {
			t.Errorf("the WAL was synced %d times before %s was answered, want %d", got, before, want)
		}
	}
	for range 2 {
		mustAppend(t, j, journaltest.Put("1", "{}"))
		synced("Append", 1)
		changes, err := j.Claim(t.Context(), report.Advisories, 1, 1)
		if err != nil || len(changes) != 1 {
			t.Fatalf("claimed %v, %v", changes, err)
		}
		if err := j.Settle(t.Context(), []report.Settlement{{Key: changes[0].Key, Version: changes[0].Version, Outcome: report.Indexed}}); err != nil {
			t.Fatal(err)
		}
		synced("Settle", 0)
	}
	if _, err := report.ResendAll(t.Context(), j, report.Advisories); err != nil {
		t.Fatal(err)
	}
	synced("Resend", 1)
	const normal = 1 // SQLite syncs a new WAL, and what is copied from it
	var level int
	if err := j.e.write.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&level); err != nil || level != normal {
		t.Errorf("the level of synchronous is %d, %v, want %d", level, err, normal)
	}
	var pages int
	if err := j.e.write.QueryRowContext(t.Context(), "PRAGMA wal_autocheckpoint").Scan(&pages); err != nil || pages != 0 {
		t.Errorf("a COMMIT checkpoints a WAL of %d pages, %v, want no automatic checkpoint", pages, err)
	}
	if !commit.NeedsSync([]*commit.Request{{}, {Sync: true}}) || !commit.NeedsSync(nil) {
		t.Error("a group with an Append, and a test write, must be committed with an fsync")
	}
	var mode string
	if err := j.e.write.QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&mode); err != nil || mode != "wal" {
		t.Errorf("the journal mode is %q, %v", mode, err)
	}
}

// TestIndexes: frequent queries do not read all documents.
func TestIndexes(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	for query, want := range map[string]string{
		`SELECT id FROM documents INDEXED BY documents_unsettled WHERE kind = ?1 AND state = ?2 AND state <> 3 ORDER BY waiting_since, version`: "COVERING INDEX documents_unsettled (kind=? AND state=?)",
		`SELECT id FROM documents INDEXED BY documents_code WHERE kind = ?1 AND code = ?2 AND op = ?3 AND code <> '' LIMIT 2`:                   "INDEX documents_code (kind=? AND code=? AND op=?)",
		`SELECT id FROM documents WHERE kind = ? AND state = 4 AND id > ? ORDER BY id LIMIT 100`:                                                "COVERING INDEX documents_dead (kind=? AND id>?)",
		`SELECT id, version, op, state FROM documents WHERE kind = ? AND id > ? ORDER BY id LIMIT 100`:                                          "INDEX documents_key (kind=? AND id>?)",
		`SELECT id, version, op, state FROM documents WHERE kind = ? AND id IN (?, ?)`:                                                          "INDEX documents_key (kind=? AND id=?)",
		`SELECT seq, id FROM refusals WHERE kind = ?1 AND version < ?2 AND folded IN (?3, ?1, ?2)`:                                              "INDEX refusals_document (kind=? AND folded=? AND version<?)",
	} {
		rows, err := j.e.readers.Query("EXPLAIN QUERY PLAN "+query, "a", "b", "c")
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, detail)
		}
		if len(plan) != 1 || !strings.Contains(plan[0], want) {
			t.Errorf("%s\nis run as %q, want %s", query, plan, want)
		}
	}
}

func TestResendInPieces(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	j.Requests = commit.NewRequests(j.opt, j.queue, commit.Hooks{CheckQuota: j.quotaError, Claimed: j.claims.of, Claim: j.tryClaim, Contents: j.Contents, Piece: 2})
	journaltest.ResendInPieces(t, j)
	checkTables(t, j)
}

// task is a commit.Task that calls a function.
type task func(*commit.Transaction) error

func (f task) Execute(tx *commit.Transaction) error { return f(tx) }
