package visible_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"riskdex/elastic"
	"riskdex/indexer/visible"
	"riskdex/report"
)

// of is a journal and an index that have one document, the index for a while.
type of struct {
	entry report.Entry
	until time.Time
	first elastic.Indexed // until then
	then  elastic.Indexed
}

func (o of) Lookup(context.Context, report.Kind, []report.ID) ([]report.Entry, error) {
	return []report.Entry{o.entry}, nil
}

func (o of) Searchable(context.Context, string, []report.ID) (map[report.ID]elastic.Indexed, error) {
	shown := o.then
	if time.Now().Before(o.until) {
		shown = o.first
	}
	return map[report.ID]elastic.Indexed{o.entry.ID: shown}, nil
}

// TestWaitIsNotForWhatTheJournalHasPassed: the index was ahead of the journal, which gives the
// change another version. Until that is refreshed, searches show a version which is newer than
// the one of the delivery, and has its content of before.
func TestWaitIsNotForWhatTheJournalHasPassed(t *testing.T) {
	key := report.Key{Kind: report.Cities, ID: "1"}
	for _, state := range []report.State{report.StatePending, report.StateSettled} {
		for _, op := range []report.Op{report.Index, report.Delete} {
			synctest.Test(t, func(t *testing.T) {
				o := of{until: time.Now().Add(time.Second), first: elastic.Indexed{Found: true, Version: 100}, then: elastic.Indexed{Found: true, Version: 101}}
				o.entry.ID, o.entry.Version, o.entry.State, o.entry.Op = key.ID, 101, state, op
				if op == report.Delete {
					o.then = elastic.Indexed{}
				}
				w := visible.New(o, o, func(report.Kind) string { return "cities" })
				ctx, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
				defer cancel()
				if n := w.Wait(ctx, key.Kind, []report.Stamp{{Key: key, Version: 50}}); n != 0 {
					t.Errorf("%s, %s: said to be shown while the index has what was there before", state, op)
				}
				if state == report.StatePending && op == report.Delete {
					return // it is not settled
				}
				if n := w.Wait(t.Context(), key.Kind, []report.Stamp{{Key: key, Version: 50}}); n != 1 {
					t.Errorf("%s, %s: %d are said to be shown", state, op, n)
				}
			})
		}
	}
}
