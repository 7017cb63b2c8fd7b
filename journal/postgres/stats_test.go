package postgres_test

import (
	"log/slog"
	"reflect"
	"testing"
	"time"

	"riskdex/internal/testkit/postgres/postgrestest"
	"riskdex/journal"
	"riskdex/journal/postgres"
	"riskdex/report"
)

// TestProcessesTellTheSame: two processes work on a journal, and both report the same
// totals, whichever of them made the changes.
func TestProcessesTellTheSame(t *testing.T) {
	address := postgrestest.URL(t)
	open := func() journal.Journal {
		j, err := postgres.Open(t.Context(), address, journal.Options{Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = j.Close() })
		return j
	}
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	stats := func(j journal.Journal) report.Stats {
		t.Helper()
		s, err := j.Stats(t.Context())
		ok(err)
		s.Now = time.Time{} // they are asked one after the other
		return s
	}
	one, other := open(), open()
	for i, j := range []journal.Journal{one, other} {
		_, err := j.Append(t.Context(), report.Delivery{Changes: []report.Change{{
			Key: report.Key{Kind: report.Cities, ID: report.ID(rune('a' + i))}, Op: report.Index, Body: []byte(`{}`),
		}}})
		ok(err)
	}
	claimed, err := other.Claim(t.Context(), report.Cities, 1, 1000)
	ok(err)
	ok(other.Settle(t.Context(), []report.Settlement{{Key: claimed[0].Key, Version: claimed[0].Version, Outcome: report.Dead}}))
	ok(one.LockKind(t.Context(), report.Advisories))

	s := stats(one)
	if got := stats(other); !reflect.DeepEqual(got, s) {
		t.Errorf("one process reports\n%+v, the other\n%+v", s, got)
	}
	if k := s.Kinds[report.Cities]; k.Accepted[report.Index] != 2 || k.Pending != 1 || k.DeadLetters != 1 || k.Holder != "" {
		t.Errorf("totals %+v, want 2 accepted, 1 pending, 1 dead letter, unlocked", k)
	}
	if len(s.Processes) != 2 || s.Kinds[report.Advisories].Holder != journal.ProcessName() {
		t.Errorf("stats %+v, want two processes and advisories locked by this one", s)
	}

	ok(one.Close())
	if s := stats(other); len(s.Processes) != 1 || s.Kinds[report.Advisories].Holder != "" {
		t.Errorf("after one process has left: %+v, want one process and no lock", s)
	}
}
