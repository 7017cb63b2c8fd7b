package sqlite

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// forgetful opens a journal with the document "1", whose disk fails at the next write.
// The system then forgets the part of the WAL that the disk has not accepted: it reads as
// zeros, as on file systems that drop a page whose writing has failed, and on all of them
// when memory is short.
func forgetful(t *testing.T, path string) *Journal {
	t.Helper()
	j := openIdle(t, path)
	mustCommit(t, j, journaltest.Put("1", strings.Repeat("old ", 10_000)))
	require.NoError(t, j.e.sync())
	durable, err := fileSize(path + "-wal")
	require.NoError(t, err)
	j.e.sync = func() error {
		log, err := os.OpenFile(path+"-wal", os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer log.Close()
		info, err := log.Stat()
		if err != nil {
			return err
		}
		if _, err := log.WriteAt(make([]byte, info.Size()-durable), durable); err != nil {
			return err
		}
		return syscall.EIO
	}
	return j
}

// mustCommit executes a delivery without the writer.
func mustCommit(t *testing.T, j *Journal, d report.Delivery) {
	t.Helper()
	_, _, err := j.commit([]*commit.Request{{Task: task(func(tx *commit.Transaction) error { _, err := tx.Deliver(d, j.opt); return err })}}, true)
	require.NoError(t, err)
}

// mustHaveOld checks that a journal has the acknowledged version of the document "1".
func mustHaveOld(t *testing.T, j *Journal) {
	t.Helper()
	claimed, err := j.Claim(t.Context(), report.Advisories, 10, 1<<20)
	if err != nil || len(claimed) != 1 || !bytes.HasPrefix(claimed[0].Body, []byte("old old")) {
		t.Errorf("claimed %v, %v; want the acknowledged version", claimed, err)
	}
	checkTables(t, j)
}

// TestForgottenAfterAFailedSync: the WAL that SQLite remembers is not what is in the
// file. The journal believes the file.
func TestForgottenAfterAFailedSync(t *testing.T) {
	j := forgetful(t, filepath.Join(t.TempDir(), "journal.db"))
	j.testWriteEvery = time.Millisecond
	start(t, j)
	if _, err := j.Append(t.Context(), journaltest.Put("1", strings.Repeat("new ", 10_000))); err == nil {
		t.Fatal("a delivery that the disk refused was acknowledged")
	}
	waitReady(t, j)
	mustHaveOld(t, j)
}

// TestForgottenBeforeClose: what SQLite would copy from the WAL on Close is no longer in
// the WAL.
func TestForgottenBeforeClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := forgetful(t, path)
	j.testWriteEvery = time.Hour
	go j.run()
	if _, err := j.Append(t.Context(), journaltest.Put("1", strings.Repeat("new ", 10_000))); err == nil {
		t.Fatal("a delivery that the disk refused was acknowledged")
	}
	require.NoError(t, j.Close())
	mustHaveOld(t, openTest(t, path, journal.Options{}))
}

// TestOpeningWritesNothing: a file whose disk fails can be opened and read.
func TestOpeningWritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openIdle(t, path)
	mustCommit(t, j, journaltest.Put("1", "{}"))
	go j.run()
	require.NoError(t, j.Close())
	j = openIdle(t, path)
	start(t, j)
	if log, err := fileSize(path + "-wal"); err != nil || log != 0 {
		t.Errorf("opening it wrote a WAL of %d bytes, %v", log, err)
	}
}
