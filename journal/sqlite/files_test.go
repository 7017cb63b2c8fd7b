package sqlite

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/logtest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// TestFilesTakenAway moves, deletes and replaces the files of a running journal: it
// acknowledges nothing more, reports that, continues to serve what it has, and accepts
// again once the same files are back.
func TestFilesTakenAway(t *testing.T) {
	for _, c := range []struct {
		name string
		take func(path string) error
		back func(path string) error // nil if nothing brings them back
	}{
		{"renamed", func(path string) error { return os.Rename(path, path+".old") },
			func(path string) error { return os.Rename(path+".old", path) }},
		{"replaced", func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600))
		}, func(path string) error { return os.Rename(path+".old", path) }},
		{"with its folder", func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+".old") },
			func(path string) error { return os.Rename(filepath.Dir(path)+".old", filepath.Dir(path)) }},
		{"its WAL renamed", func(path string) error { return os.Rename(path+"-wal", path+"-old") },
			func(path string) error { return os.Rename(path+"-old", path+"-wal") }},
		{"deleted", os.Remove, nil},
		{"its WAL deleted", func(path string) error { return os.Remove(path + "-wal") }, nil},
		{"its shared memory deleted", func(path string) error { return os.Remove(path + "-shm") }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "data", "journal.db")
			require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
			var log logtest.Buffer
			j := openTest(t, path, journal.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
			before, err := j.Append(t.Context(), journaltest.Put("1", "{}"))
			require.NoError(t, err)
			require.NoError(t, c.take(path))

			_, err = j.Append(t.Context(), journaltest.Put("2", "{}"))
			if !errors.Is(err, errMoved) || errors.Is(err, report.ErrNoRoom) {
				t.Errorf("Append: %v", err)
			}
			if err := j.Ready(); !errors.Is(err, errMoved) {
				t.Errorf("Ready: %v", err)
			}
			if _, err := j.Append(t.Context(), journaltest.Delete("1")); !errors.Is(err, errMoved) {
				t.Errorf("Append of a delete: %v", err)
			}
			// What was acknowledged before still reaches the index.
			claimed, err := j.Claim(t.Context(), report.Advisories, 10, 1<<20)
			if err != nil || len(claimed) != 1 || claimed[0].Version != before[0].Version {
				t.Errorf("claimed %v, %v", claimed, err)
			}
			require.NoError(t, j.Settle(t.Context(), []report.Settlement{{Key: before[0].Key, Version: before[0].Version, Outcome: report.Indexed}}))
			if log.Count("level=ERROR") != 1 || log.Count("moved, deleted or replaced") != 1 {
				t.Errorf("the log lacks a message: %s", log.String())
			}
			if c.back == nil {
				return
			}
			require.NoError(t, c.back(path))
			waitReady(t, j)
			mustAppend(t, j, journaltest.Put("3", "{}"))
			checkTables(t, j)
			if log.Count("are back") != 1 {
				t.Errorf("the log lacks a message: %s", log.String())
			}
			require.NoError(t, j.Close())
			j = openTest(t, path, journal.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
			if found := documentsOf(t, j); len(found) != 2 || log.Count("level=ERROR") != 1 {
				t.Errorf("the journal has %v; the log: %s", found, log.String())
			}
		})
	}
}

// TestFilesTakenAwayWhileIdle: it is noticed without a delivery.
func TestFilesTakenAwayWhileIdle(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	require.NoError(t, os.Rename(j.path, j.path+".old"))
	journaltest.Eventually(t, "it is noticed", func() bool { return errors.Is(j.Ready(), errMoved) })
	require.NoError(t, os.Rename(j.path+".old", j.path))
	journaltest.Eventually(t, "it goes on", func() bool { return j.Ready() == nil })
}

// TestAnotherFileIsNotRewritten: after an I/O error the journal is copied to a new file,
// but another file that has replaced it is not.
func TestAnotherFileIsNotRewritten(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other.db")
	o := openTest(t, other, journal.Options{})
	mustAppend(t, o, journaltest.Put("other", "{}"))
	require.NoError(t, o.Close())

	j := openIdle(t, filepath.Join(dir, "journal.db"))
	j.testWriteEvery = time.Millisecond
	start(t, j)
	mustAppend(t, j, journaltest.Put("1", "{}"))
	require.NoError(t, os.Rename(j.path, j.path+".old"))
	require.NoError(t, os.Rename(other, j.path))
	broken := errors.New("the disk is on fire")
	if err := j.queue.Do(t.Context(), &commit.Request{Task: task(func(*commit.Transaction) error { return broken })}); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	// By the time of this answer, a test write, which would copy it, has come and gone.
	if err := j.queue.Do(t.Context(), &commit.Request{}); !errors.Is(err, errMoved) {
		t.Errorf("the request returned %v, want errMoved: the file was opened again", err)
	}
	require.NoError(t, os.Rename(j.path+".old", j.path))
	waitReady(t, j)
	if found := documentsOf(t, j); len(found) != 1 || found["1"].version == 0 {
		t.Errorf("the file has %v, want it unchanged", found)
	}
	// The new file is watched like the old one.
	require.NoError(t, os.Rename(j.path, j.path+".old"))
	if _, err := j.Append(t.Context(), journaltest.Put("2", "{}")); !errors.Is(err, errMoved) {
		t.Errorf("Append: %v", err)
	}
}

// TestDeletedJournalIsSaved as docs/operations.md says: a deleted file exists as long as
// the process runs.
func TestDeletedJournalIsSaved(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("this system does not show open files")
	}
	j := openIdle(t, filepath.Join(t.TempDir(), "journal.db"))
	j.idleAfter = time.Millisecond
	start(t, j)
	mustAppend(t, j, journaltest.Put("1", "{}"))
	require.NoError(t, os.Remove(j.path))
	journaltest.Eventually(t, "its WAL is empty", func() bool { n, err := fileSize(j.path + "-wal"); return n == 0 && err == nil })
	saved, err := os.ReadFile(fmt.Sprintf("/proc/self/fd/%d", j.files.locked.Fd()))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	require.NoError(t, os.WriteFile(j.path, saved, 0o600))
	if found := documentsOf(t, openTest(t, j.path, journal.Options{})); len(found) != 1 {
		t.Errorf("the saved file has %v, want everything acknowledged", found)
	}
}
