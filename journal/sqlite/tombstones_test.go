package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/journal/transfer"
	"riskdex/report"
)

// TestFileShrinks drops tombstones while deliveries continue, and measures the file.
func TestFileShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	var passed atomic.Int64
	began := time.Now()
	j := openTest(t, path, journal.Options{Now: func() time.Time { return began.Add(time.Duration(passed.Load())) }})
	const many = 5000
	var gone []report.Change
	for i := range many {
		gone = append(gone, journaltest.Delete(fmt.Sprint(i, strings.Repeat("x", 400))).Changes...)
	}
	var all []report.Change
	for _, c := range gone {
		c.Op, c.Body = report.Index, []byte("{}")
		all = append(all, c)
	}
	mustAppend(t, j, report.Delivery{Changes: all})
	mustAppend(t, j, report.Delivery{Changes: gone})
	for n := 0; n < many; {
		changes, err := j.Claim(t.Context(), report.Advisories, many, 1<<30)
		require.NoError(t, err)
		var list []report.Settlement
		for _, c := range changes {
			list = append(list, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Deleted})
		}
		require.NoError(t, j.Settle(t.Context(), list))
		n += len(changes)
	}
	mustAppend(t, j, journaltest.Put("live", strings.Repeat("x", 100<<10)))
	require.NoError(t, j.queue.Do(t.Context(), &commit.Request{Sync: true}))
	passed.Store(int64(journal.DefaultKeepDeleted + time.Hour))
	if n, err := j.DropDeleted(t.Context()); n != many || err != nil {
		t.Fatal(n, err)
	}
	require.NoError(t, j.giveBack(t.Context()))
	require.NoError(t, j.queue.Do(t.Context(), &commit.Request{Sync: true, Task: task(func(*commit.Transaction) error { return j.e.freePages(t) })}))
	require.NoError(t, j.Close())
	if info, err := os.Stat(path); err != nil || info.Size() > 2*vacuumPages*pageSize+1<<20 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	j = openTest(t, path, journal.Options{})
	c, err := j.Claim(context.Background(), report.Advisories, 10, 1<<20)
	if err != nil || len(c) != 1 || len(c[0].Body) != 100<<10 {
		t.Errorf("%d changes, %v", len(c), err)
	}
	checkTables(t, j)
	require.NoError(t, j.Close())

	// A copy can shrink as well.
	to := filepath.Join(t.TempDir(), "copy.db")
	_, err = transfer.Copy(t.Context(), Endpoint(path), Endpoint(to), nil)
	require.NoError(t, err)
	j = openTest(t, to, journal.Options{})
	var mode int
	if err := j.e.write.QueryRowContext(t.Context(), "PRAGMA auto_vacuum").Scan(&mode); err != nil || mode != 2 {
		t.Errorf("auto_vacuum is %d in a copy, %v", mode, err)
	}
}

// freePages checks that only a small part is free.
func (e *engine) freePages(t *testing.T) error {
	var pages, free int64
	err := e.write.QueryRowContext(context.Background(), "SELECT page_count, freelist_count FROM pragma_page_count, pragma_freelist_count").Scan(&pages, &free)
	if free >= 2*vacuumPages && free*vacuumFrom >= pages {
		t.Errorf("%d of %d pages are free", free, pages)
	}
	return err
}
