package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/journal"
)

// TestWALDoesNotCountForLong sets a limit that the WAL alone would reach: it is
// truncated, and delays nobody.
func TestWALDoesNotCountForLong(t *testing.T) {
	r := newQuotaRig(t, journal.Options{MaxBytes: 4 << 20})
	body := strings.Repeat("x", 100<<10)
	write := func(times int) {
		for n := range times {
			mustAppend(t, r.Journal, journaltest.Put(fmt.Sprint(n%10), body))
		}
	}
	write(200)
	for range 10 { // a truncation may be under way
		s, err := r.Stats(t.Context())
		if err == nil && s.Used <= 4<<20 && s.Bytes <= 8<<20 {
			return
		}
		t.Logf("%d bytes used of a file of %d, %v", s.Used, s.Bytes, err)
		write(10)
	}
	t.Error("want at most 4 MiB used of an 8 MiB file")
}

// TestLongReader reads for long, as a backup does: the WAL grows, this is logged, and
// afterwards it is short again.
func TestLongReader(t *testing.T) {
	r := newQuotaRig(t, journal.Options{})
	mustAppend(t, r.Journal, journaltest.Put("1", "{}"))
	tx, err := r.e.readers.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var n int
	if err := tx.QueryRow(`SELECT count(*) FROM documents`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	body := strings.Repeat("x", 4<<20)
	write := func(times int) int64 {
		for i := range times {
			r.pass(measureEvery)
			mustAppend(t, r.Journal, journaltest.Put(fmt.Sprint(i), body))
		}
		size, err := fileSize(r.path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return size
	}
	if size := write(20); size < 2*walLimit {
		t.Fatalf("the WAL has only %d bytes, so this test shows nothing", size)
	}
	if n := r.log.Count("while another process reads it"); n != 1 {
		t.Errorf("%d messages say that the WAL grows, want one", n)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if size := write(2); size > 2*walLimit {
		t.Errorf("the WAL still has %d bytes", size)
	}
}

// TestIdleTruncatesTheWAL: an idle journal has everything in one file.
func TestIdleTruncatesTheWAL(t *testing.T) {
	j := openIdle(t, filepath.Join(t.TempDir(), "journal.db"))
	j.idleAfter = time.Millisecond
	start(t, j)
	mustAppend(t, j, journaltest.Put("1", "{}"))
	deadline := time.Now().Add(10 * time.Second)
	for {
		size, err := fileSize(j.path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		if size == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the WAL still has %d bytes", size)
		}
		time.Sleep(time.Millisecond)
	}
}
