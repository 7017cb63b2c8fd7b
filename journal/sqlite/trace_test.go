package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"riskdex/journal"
	"riskdex/journal/internal/committest"
	"riskdex/report"
)

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func (e *engine) countTraces(t *testing.T) (n int64) {
	t.Helper()
	if err := e.readers.QueryRowContext(t.Context(), "SELECT count(*) FROM traces").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A journal without traces makes no query for them.
func TestUntracedChangesAskForNoTraces(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	execRaw(t, j.path, "DROP TABLE traces")
	for range 2 {
		mustAppend(t, j, committest.Put("1", "{}"))
	}
	changes, err := j.Claim(t.Context(), report.Advisories, 10, 1<<20)
	if err != nil || len(changes) != 1 {
		t.Fatalf("Claim = %v, %v", changes, err)
	}
	s := report.Settlement{Key: changes[0].Key, Version: changes[0].Version, Outcome: report.Indexed}
	if err := j.Settle(t.Context(), []report.Settlement{s}); err != nil {
		t.Fatal(err)
	}
}

// A change is given out although its trace cannot be read.
func TestUnreadableTraceKeepsNothingBack(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	d := committest.Put("1", "{}")
	d.Changes[0].Trace = traceparent
	mustAppend(t, j, d)
	execRaw(t, j.path, "DROP TABLE traces")
	changes, err := j.Claim(t.Context(), report.Advisories, 10, 1<<20)
	if err != nil || len(changes) != 1 || changes[0].Trace != "" {
		t.Fatalf("Claim = %v, %v", changes, err)
	}
}

// The number of traces in memory is that in the table, also after a restart.
func TestTracesAreCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path, journal.Options{})
	agree := func(when string, want int64) {
		t.Helper()
		if known, has := j.e.traces.Load(), j.e.countTraces(t); known != want || has != want {
			t.Errorf("%s: %d traces are known, the table has %d, want %d", when, known, has, want)
		}
	}
	deliver := func(trace string) {
		t.Helper()
		var d report.Delivery
		for i := range 10 {
			c := committest.Put(fmt.Sprint(i), "{}").Changes[0]
			c.Trace = trace
			d.Changes = append(d.Changes, c)
		}
		mustAppend(t, j, d)
	}
	settle := func(n int, o report.Outcome) {
		t.Helper()
		changes, err := j.Claim(t.Context(), report.Advisories, n, 1<<20)
		if err != nil || len(changes) != n {
			t.Fatalf("Claim = %d, %v", len(changes), err)
		}
		for _, c := range changes {
			if err := j.Settle(context.Background(), []report.Settlement{{Key: c.Key, Version: c.Version, Outcome: o}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	agree("empty", 0)
	deliver(traceparent)
	agree("delivered", 10)
	deliver(traceparent)
	agree("delivered again", 10)
	settle(3, report.Indexed)
	settle(1, report.Dead)
	agree("some are settled", 6)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = openTest(t, path, journal.Options{})
	agree("after a restart", 6)
	settle(2, report.Superseded)
	agree("more are settled", 4)
	deliver("")
	agree("delivered without", 0)
}
