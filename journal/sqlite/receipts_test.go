package sqlite

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/journal"
	"riskdex/report"
)

// Old receipts are dropped along with new ones, more of them than come, and none before
// its time.
func TestOldReceiptsAreDropped(t *testing.T) {
	var clock atomic.Int64 // since the first day; the journal reads it at any time
	first := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := func() time.Time { return first.Add(time.Duration(clock.Load())) }
	j, err := Open(t.Context(), filepath.Join(t.TempDir(), "j.db"), journal.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	deliver := func(n int) {
		t.Helper()
		for i := range n {
			if _, err := j.Append(t.Context(), report.Delivery{Receipt: &report.Receipt{
				Sender: "s", ID: fmt.Sprint(now().UnixMicro(), i), Digest: []byte("d"), Answer: []byte("a"),
			}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	kept := func(want int) {
		t.Helper()
		var n int
		if err := j.read(func(e *engine) error {
			return e.readers.QueryRowContext(t.Context(), `SELECT count(*) FROM receipts`).Scan(&n)
		}); err != nil {
			t.Fatal(err)
		}
		if n != want {
			t.Errorf("%d receipts are kept, want %d", n, want)
		}
	}
	deliver(100)
	clock.Add(int64(report.ReceiptsFor))
	deliver(1)
	kept(101)
	clock.Add(int64(time.Microsecond))
	deliver(60)
	kept(61)
}
