package sqlite

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"riskdex/internal/testkit/disktest"
	"riskdex/internal/testkit/require"
	"riskdex/internal/testkit/torture"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// sender records what a journal has acknowledged.
type sender struct {
	*Journal
	sent int
	mu   sync.Mutex
	acks []acknowledged
}

// openOn opens a journal on a disk. The test closes it, because the disk may be gone by
// then.
func openOn(t *testing.T, d *disktest.Disk) *sender {
	t.Helper()
	opt := commit.WithDefaults(journal.Options{MinFree: -1, Log: slog.New(slog.DiscardHandler)})
	j, err := open(t.Context(), filepath.Join(d.Dir, "journal.db"), opt)
	if err != nil {
		t.Fatal(err)
	}
	j.testWriteEvery = 5 * time.Millisecond
	go j.run()
	t.Cleanup(func() { _ = j.Close() })
	return &sender{Journal: j}
}

// send makes so many deliveries from each of four goroutines, and returns the first error
// of each.
func (s *sender) send(t *testing.T, times int) (errs []error) {
	t.Helper()
	s.sent++
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := range times {
				d := deliveryOf(fmt.Sprintf("s%d-%d-%d", s.sent, n, i))
				stamps, err := s.Append(t.Context(), d)
				s.mu.Lock()
				if err == nil {
					s.acks = append(s.acks, acksOf(d, stamps)...)
				} else {
					errs = append(errs, err)
				}
				s.mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return errs
}

// mustFail sends until each sender got an error, and checks that the journal reports that
// it cannot accept, or has found out meanwhile that it can.
func (s *sender) mustFail(t *testing.T) []error {
	t.Helper()
	errs := s.send(t, 100_000)
	if len(errs) != 4 {
		t.Fatalf("%d of 4 senders got an error: %v", len(errs), errs)
	}
	return errs
}

// survives cuts off the disk, mounts it again, and checks what is there.
func (s *sender) survives(t *testing.T, d *disktest.Disk) {
	t.Helper()
	d.Cut(t)
	_ = s.Close() // its disk is gone
	d.Again(t)
	checkSurvivor(t, filepath.Join(d.Dir, "journal.db"), s.acks)
}

// TestRealFullDisk fills the disk of a journal: whatever is acknowledged survives a power
// cut, and acceptance resumes by itself.
func TestRealFullDisk(t *testing.T) {
	rounds := torture.Extent(2, 20)
	d := disktest.New(t, t.TempDir(), 24, "")
	total := 0
	for round := range rounds {
		s := openOn(t, d)
		if errs := s.send(t, 20); errs != nil {
			t.Fatal(errs)
		}
		ballast := filepath.Join(d.Dir, "ballast")
		disktest.Fill(t, ballast, int64(round%5)<<18)
		for _, err := range s.mustFail(t) {
			if !errors.Is(err, report.ErrNoRoom) {
				t.Errorf("error %v, want ErrNoRoom", err)
			}
		}
		if _, err := s.Claim(t.Context(), report.Advisories, 10, 1<<20); err != nil {
			t.Errorf("Claim, on a full disk: %v", err)
		}
		checkTables(t, s.Journal)
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		waitReady(t, s.Journal)
		if errs := s.send(t, 20); errs != nil {
			t.Fatal(errs)
		}
		total += len(s.acks)
		s.survives(t, d)
		empty(t, d)
	}
	t.Logf("%d times full, %d acknowledged changes", rounds, total)
}

// empty deletes everything from a disk.
func empty(t *testing.T, d *disktest.Disk) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(d.Dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.RemoveAll(f); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSyncFails makes the disk refuse writes that the system's cache has already
// accepted, so that fsync fails: the file of the disk has holes, and the disk below is
// full. Whatever is acknowledged survives a power cut, and acceptance resumes by itself,
// or with the next process.
func TestSyncFails(t *testing.T) {
	rounds := torture.Extent(4, 20)
	total := 0
	for round := range rounds {
		outer := disktest.Tmpfs(t, 40)
		d := disktest.New(t, outer, 32, "")
		s := openOn(t, d)
		if errs := s.send(t, 50); errs != nil {
			t.Fatal(errs)
		}
		d.Rot(t)
		ballast := filepath.Join(outer, "ballast")
		disktest.Fill(t, ballast, 0)
		failed := 0
		for range 3 { // meanwhile it may find out that a part of the disk still works
			for _, err := range s.mustFail(t) {
				if errors.Is(err, report.ErrNoRoom) {
					t.Fatalf("error %v, want one about a failing disk, not about space", err)
				}
				failed++
			}
		}
		if round%2 == 1 {
			_ = s.Close() // its disk fails
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		if round%2 == 1 {
			next := openOn(t, d)
			next.sent, next.acks = s.sent, s.acks
			s = next
		}
		waitReady(t, s.Journal)
		if errs := s.send(t, 50); errs != nil {
			t.Fatal(errs)
		}
		total += len(s.acks)
		s.survives(t, d)
		d.Unmount()
		if t.Failed() {
			return
		}
	}
	t.Logf("%d disks that failed, %d acknowledged changes", rounds, total)
}

// TestLastSyncFails makes the disk refuse only what a journal copies from its WAL when it
// is closed. The journal reports that, and the next process does not use that file any
// more: even what it wrote again, and the disk accepted, might be lost in a power cut.
func TestLastSyncFails(t *testing.T) {
	outer := disktest.Tmpfs(t, 40)
	d := disktest.New(t, outer, 32, "")
	s := openOn(t, d)
	if errs := s.send(t, 10); errs != nil { // nothing is copied before
		t.Fatal(errs)
	}
	d.Rot(t)
	ballast := filepath.Join(outer, "ballast")
	disktest.Fill(t, ballast, 0)
	if err := s.Close(); err == nil {
		t.Error("Close returned no error")
	}
	require.NoError(t, os.Remove(ballast))
	next := openOn(t, d)
	next.sent, next.acks = s.sent, s.acks
	for range 10 { // until the WAL has started over
		if errs := next.send(t, 50); errs != nil {
			t.Fatal(errs)
		}
	}
	next.survives(t, d)
}
