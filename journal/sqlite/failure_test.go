package sqlite

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// openIdle opens a journal whose writer is not running yet.
func openIdle(t *testing.T, path string) *Journal {
	t.Helper()
	j, err := open(t.Context(), path, commit.WithDefaults(journal.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func start(t *testing.T, j *Journal) {
	go j.run()
	j.background.Go(func() { j.claims.idle.Run(j.open) })
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

// TestOnlyTheBadRequestFails: the database refuses one document, and the others in the
// same group are committed.
func TestOnlyTheBadRequestFails(t *testing.T) {
	j := openIdle(t, filepath.Join(t.TempDir(), "journal.db"))
	execRaw(t, j.path, `CREATE TRIGGER refuse BEFORE INSERT ON documents WHEN NEW.id = 'bad'
		BEGIN SELECT RAISE(ABORT, 'refused'); END`)
	var group []*commit.Request
	for _, id := range []string{"a", "bad", "b"} {
		group = append(group, &commit.Request{Ctx: t.Context(), Sync: true, Done: make(chan error, 1), Task: task(func(tx *commit.Transaction) error {
			_, err := tx.Deliver(journaltest.Put(id, "{}"), j.opt)
			return err
		})})
	}
	j.serve(group)
	start(t, j)
	for i, r := range group {
		if err := <-r.Done; (err != nil) != (i == 1) {
			t.Errorf("request %d: %v", i, err)
		}
	}
	if s, err := j.Stats(t.Context()); err != nil || s.Kinds[report.Advisories].Pending != 2 {
		t.Errorf("stats: %+v, %v", s, err)
	}
	if err := j.Ready(); err != nil {
		t.Errorf("Ready: %v", err)
	}
	checkTables(t, j)
}

// setMaxPages limits the size of the database, as a full disk does.
func setMaxPages(t *testing.T, j *Journal, pages string) {
	t.Helper()
	if _, err := j.e.write.ExecContext(t.Context(), "PRAGMA max_page_count = "+pages); err != nil {
		t.Fatal(err)
	}
}

// TestFullDisk: a full disk fails a delivery and leaves nothing of it, and acceptance
// resumes when there is space.
func TestFullDisk(t *testing.T) {
	j := openIdle(t, filepath.Join(t.TempDir(), "journal.db"))
	j.testWriteEvery = time.Hour
	if _, _, err := j.commit([]*commit.Request{{Task: task(func(tx *commit.Transaction) error {
		_, err := tx.Deliver(journaltest.Put("1", "old"), j.opt)
		return err
	})}}, true); err != nil {
		t.Fatal(err)
	}
	setMaxPages(t, j, "20")
	start(t, j)
	claimed, err := j.Claim(t.Context(), report.Advisories, 1, 1)
	if err != nil || len(claimed) != 1 {
		t.Fatalf("claimed %v, %v", claimed, err)
	}
	d := journaltest.Put("1", "new")
	d.Changes = append(d.Changes, journaltest.Put("2", strings.Repeat("x", 1<<20)).Changes...)
	if _, err := j.Append(t.Context(), d); err == nil || !strings.Contains(err.Error(), "full") {
		t.Fatalf("Append: %v, want an error that the disk is full", err)
	}
	if err := j.Ready(); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("Ready: %v, want an error that the disk is full", err)
	}
	checkTables(t, j)
	if s, err := j.Stats(t.Context()); err != nil || s.Kinds[report.Advisories].Accepted[report.Index] != 1 {
		t.Errorf("stats: %+v, %v", s, err)
	}
	if again, err := j.Claim(t.Context(), report.Advisories, 1, 1); err != nil || len(again) != 0 {
		t.Errorf("the claim was lost: %v, %v", again, err)
	}
	mustAppend(t, j, journaltest.Put("1", "fits"))
	if err := j.Ready(); err != nil {
		t.Errorf("Ready, after a success: %v", err)
	}
}

// TestReadyComesBack: a journal that cannot be written finds out by itself that it can be
// again, also after an error that required opening the database again.
func TestReadyComesBack(t *testing.T) {
	j := openIdle(t, filepath.Join(t.TempDir(), "journal.db"))
	j.testWriteEvery = time.Millisecond
	before := j.e
	start(t, j)
	mustAppend(t, j, journaltest.Put("1", "{}"))
	broken := errors.New("the disk is on fire")
	err := j.queue.Do(t.Context(), &commit.Request{Task: task(func(*commit.Transaction) error { return broken })})
	if !errors.Is(err, broken) {
		t.Fatalf("the request returned %v", err)
	}
	waitReady(t, j)
	mustAppend(t, j, journaltest.Put("2", "{}"))
	if j.e == before {
		t.Error("the database was not opened again")
	}
	checkTables(t, j)
}

func waitReady(t *testing.T, j *Journal) {
	t.Helper()
	// After an attempt to recover that fails, the journal waits ten times as long as that took,
	// which on a loaded machine may be seconds.
	deadline := time.Now().Add(5 * time.Minute)
	for j.Ready() != nil {
		if time.Now().After(deadline) {
			t.Fatalf("the journal does not become ready: %v", j.Ready())
		}
		time.Sleep(time.Millisecond)
	}
}

// TestReopenLoadsAgain: a transaction that the journal believes to have failed is in the
// file, and the journal believes the file.
func TestReopenLoadsAgain(t *testing.T) {
	j := openIdle(t, filepath.Join(t.TempDir(), "journal.db"))
	execRaw(t, j.path, `UPDATE meta SET value = 9000000000000000 WHERE name = 'last_version'`)
	j.distrusted = true
	before := j.e
	start(t, j)
	stamps, err := j.Append(t.Context(), journaltest.Put("1", "{}"))
	if err != nil || stamps[0].Version != 9000000000000001 {
		t.Errorf("stamped %+v, %v; want the version after the one in the file", stamps, err)
	}
	if j.e == before {
		t.Error("the database was not opened again")
	}
}

const limitEnv = "RISKDEX_TEST_LIMIT"

// TestDiskError makes writes to the WAL fail with an error other than a full disk, in a
// process of its own, because the limit that causes it applies to a whole process.
func TestDiskError(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestDiskErrorChild$", "-test.v")
	cmd.Env = append(os.Environ(), limitEnv+"="+filepath.Join(t.TempDir(), "journal.db"))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestDiskErrorChild") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestDiskErrorChild is the child of TestDiskError.
func TestDiskErrorChild(t *testing.T) {
	path := os.Getenv(limitEnv)
	if path == "" {
		t.Skip("it is run by TestDiskError")
	}
	signal.Ignore(syscall.SIGXFSZ)
	j := openIdle(t, path)
	j.testWriteEvery = time.Millisecond
	start(t, j)
	mustAppend(t, j, journaltest.Put("1", "old"))
	log, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	limitFileSize(t, uint64(log.Size())+4096)
	_, err = j.Append(t.Context(), journaltest.Put("1", strings.Repeat("x", 1<<20)))
	if err == nil || !strings.Contains(err.Error(), "disk I/O error") {
		t.Fatalf("Append: %v, want an I/O error", err)
	}
	if j.Ready() == nil {
		t.Error("the journal is ready although its disk fails")
	}
	if _, err := j.Append(t.Context(), journaltest.Put("1", strings.Repeat("y", 1<<20))); err == nil {
		t.Error("Append succeeded with a disk that fails")
	}
	if s, err := j.Stats(context.Background()); err == nil && s.Kinds[report.Advisories].Accepted[report.Index] != 1 {
		t.Errorf("stats: %+v, %v", s, err)
	}
	limitFileSize(t, 1<<62)
	waitReady(t, j)
	mustAppend(t, j, journaltest.Put("2", "new"))
	if err := j.Ready(); err != nil {
		t.Errorf("Ready, after a success: %v", err)
	}
	changes, err := j.Claim(t.Context(), report.Advisories, 10, 1<<20)
	if err != nil || len(changes) != 2 || string(changes[0].Body) != "old" {
		t.Errorf("claimed %v, %v", changes, err)
	}
	checkTables(t, j)
}

func limitFileSize(t *testing.T, n uint64) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = min(n, limit.Max)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
}
