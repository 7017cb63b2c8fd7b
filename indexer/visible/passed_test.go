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

// oneDocument is a journal and an index of one document. At refreshAt, searches change from
// before to after.
type oneDocument struct {
	entry         report.Entry
	unknown       bool // to the journal
	refreshAt     time.Time
	before, after elastic.Indexed
}

func (o oneDocument) Lookup(context.Context, report.Kind, []report.ID) ([]report.Entry, error) {
	if o.unknown {
		return nil, nil
	}
	return []report.Entry{o.entry}, nil
}

func (o oneDocument) Searchable(context.Context, string, []report.ID) (map[report.ID]elastic.Indexed, error) {
	shown := o.after
	if time.Now().Before(o.refreshAt) {
		shown = o.before
	}
	return map[report.ID]elastic.Indexed{o.entry.ID: shown}, nil
}

// TestOldContentWithANewerVersionIsNotShown: a delivery has version 50, but the index was ahead
// with version 100, so the journal gave the change version 101. Until the refresh, searches show
// 100: newer than the delivery by its number, older by its content.
func TestOldContentWithANewerVersionIsNotShown(t *testing.T) {
	key := report.Key{Kind: report.Cities, ID: "1"}
	for _, state := range []report.State{report.StatePending, report.StateSettled} {
		for _, op := range []report.Op{report.Index, report.Delete} {
			synctest.Test(t, func(t *testing.T) {
				o := oneDocument{refreshAt: time.Now().Add(time.Second), before: elastic.Indexed{Found: true, Version: 100}, after: elastic.Indexed{Found: true, Version: 101}}
				o.entry.ID, o.entry.Version, o.entry.State, o.entry.Op = key.ID, 101, state, op
				if op == report.Delete {
					o.after = elastic.Indexed{}
				}
				w := visible.New(o, o, func(report.Kind) string { return "cities" })
				ctx, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
				defer cancel()
				if n := w.Wait(ctx, key.Kind, []report.Stamp{{Key: key, Version: 50}}); n != 0 {
					t.Errorf("%s, %s: before the refresh Wait returned %d, want 0", state, op, n)
				}
				if state == report.StatePending && op == report.Delete {
					return // a delete counts as shown only once it is settled
				}
				if n := w.Wait(t.Context(), key.Kind, []report.Stamp{{Key: key, Version: 50}}); n != 1 {
					t.Errorf("%s, %s: after the refresh Wait returned %d, want 1", state, op, n)
				}
			})
		}
	}
}

// TestWhatTheJournalDoesNotKnowIsLookedFor: a journal that was set back may lack what searches find,
// and nothing will delete that.
func TestWhatTheJournalDoesNotKnowIsLookedFor(t *testing.T) {
	for want, have := range []elastic.Indexed{{Found: true, Version: 100}, {}} {
		o := oneDocument{after: have, unknown: true}
		o.entry.ID = "1"
		w := visible.New(o, o, func(report.Kind) string { return "cities" })
		if n := w.Wait(t.Context(), report.Cities, []report.Stamp{{Key: report.Key{Kind: report.Cities, ID: "1"}, Effect: report.Unknown}}); n != want {
			t.Errorf("of an unknown document that searches find (%v), Wait returned %d, want %d", have.Found, n, want)
		}
	}
}
