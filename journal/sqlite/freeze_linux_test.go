package sqlite

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/disktest"
	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
)

// TestFrozenDisk: a disk that hangs, and never fails, makes a journal not ready while
// requests wait, even after their callers have left. What is known without the disk is
// still served, and everything continues by itself.
func TestFrozenDisk(t *testing.T) {
	d := disktest.New(t, t.TempDir(), 32, "")
	j, err := Open(t.Context(), filepath.Join(d.Dir, "journal.db"), journal.Options{MinFree: -1, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	mustAppend(t, j, journaltest.Put("1", "{}"))
	thaw := d.Freeze(t)
	ctx, leave := context.WithTimeout(t.Context(), time.Second)
	defer leave()
	if _, err := j.Append(ctx, journaltest.Put("2", "{}")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Append: %v", err)
	}
	if err := j.Ready(); err != nil || j.OldestWait() < time.Second/2 {
		t.Errorf("after a second: %v, the oldest request waits for %v", err, j.OldestWait())
	}
	journaltest.Eventually(t, "it is not ready", func() bool { return j.Ready() != nil })
	if err := j.Ready(); !strings.Contains(err.Error(), "hangs") || j.OldestWait() < commit.StallAfter {
		t.Errorf("Ready: %v, the oldest request waits for %v", err, j.OldestWait())
	}
	ctx, leave = context.WithTimeout(t.Context(), time.Second)
	defer leave()
	told := make(chan error, 1)
	go func() { _, err := j.Stats(ctx); told <- err }()
	select {
	case err := <-told:
		t.Logf("Stats: %v", err)
	case <-time.After(5 * time.Second):
		t.Error("Stats hangs with the disk")
	}
	thaw()
	waitReady(t, j)
	mustAppend(t, j, journaltest.Put("3", "{}"))
	if wait := j.OldestWait(); wait > time.Second {
		t.Errorf("a request waits for %v", wait)
	}
	require.NoError(t, j.Close())
	d.Unmount()
}
