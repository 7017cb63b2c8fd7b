package sqlite

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"riskdex/internal/testkit/disktest"
	"riskdex/internal/testkit/require"
	"riskdex/internal/testkit/torture"
	"riskdex/journal"
)

// TestPowerCut repeatedly cuts off the disk under a process that writes a journal. After
// each cut, everything acknowledged is there, nothing is there by half, the totals agree,
// and versions keep growing.
func TestPowerCut(t *testing.T) {
	cuts := torture.Extent(10, 120)
	var d *disktest.Disk
	var before []acknowledged // on this disk
	total, start := 0, time.Now()
	for cut := range cuts {
		if cut%5 == 0 { // the later ones continue with the journal of the one before
			if d != nil {
				d.Unmount()
			}
			// Every second cut may leave files longer than their content.
			d = disktest.New(t, t.TempDir(), 48, []string{"", "data=writeback"}[cut/5%2])
			before = nil
		}
		acks := cutOne(t, d)
		total += len(acks)
		before = append(before, acks...)
		checkSurvivor(t, filepath.Join(d.Dir, "data", "journal.db"), before)
		if t.Failed() {
			t.Fatalf("at cut %d", cut)
		}
	}
	t.Logf("%d cuts, %d acknowledged changes, %v", cuts, total, time.Since(start).Round(time.Millisecond))
}

// cutOne lets a process write until the disk is cut off, and returns what it acknowledged
// until then. Anything later does not count: after a power cut nobody would have received
// it, and here an fsync that is under way while the file system goes down may return
// without an error. The disk is mounted again.
func cutOne(t *testing.T, d *disktest.Disk, env ...string) []acknowledged {
	t.Helper()
	folder := filepath.Join(d.Dir, "data")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	w := startWriter(t, filepath.Join(folder, "journal.db"), env...)
	w.waitFor(t, 1)
	time.Sleep(rand.N(200 * time.Millisecond)) // at a random moment
	acks := w.acknowledged()
	d.Cut(t)
	w.kill()
	d.Again(t)
	return acks
}

// TestPowerCutWithoutSync shows that TestPowerCut can fail: a journal that does not wait
// for the disk loses acknowledged deliveries.
func TestPowerCutWithoutSync(t *testing.T) {
	for cut := range 20 {
		d := disktest.New(t, t.TempDir(), 48, "")
		acks := cutOne(t, d, noSyncEnv+"=1")
		lost := missing(t, filepath.Join(d.Dir, "data", "journal.db"), acks)
		d.Unmount()
		if lost > 0 {
			t.Logf("at cut %d, %d of %d acknowledged changes were lost", cut+1, lost, len(acks))
			return
		}
	}
	t.Error("20 cuts lost nothing although no write waited for the disk, so TestPowerCut shows nothing")
}

// missing counts how many acknowledged changes a journal lacks: all, if it cannot be
// opened.
func missing(t *testing.T, path string, acks []acknowledged) int {
	t.Helper()
	j, err := Open(context.Background(), path, journal.Options{MinFree: -1})
	if err != nil {
		return len(acks)
	}
	defer j.Close()
	found := documentsOf(t, j)
	n := 0
	for _, a := range acks {
		if found[a.id].version < a.version {
			n++
		}
	}
	return n
}
