package follow

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"riskdex/report"
)

// feed is a feed of few documents that change all the time.
type feed struct {
	last   report.Version
	newest map[report.ID]report.Record
}

func (f *feed) change(r *rand.Rand) {
	f.last++
	c := report.Record{Change: report.Change{Key: report.Key{Kind: report.Cities, ID: report.ID(fmt.Sprint(r.IntN(12)))}, Op: report.Index, Version: f.last, Body: []byte("{}")}}
	switch r.IntN(12) {
	case 0, 1, 2:
		c.Op, c.Body = report.Delete, nil
	case 3:
		c.Lost, c.Body = report.LostDamaged, nil
	}
	f.newest[c.ID] = c
}

// page returns up to limit changes after a cursor, as a journal does.
func (f *feed) page(after report.Cursor, limit int) (p report.FeedPage) {
	for v := after.Version + 1; v <= f.last && len(p.Changes) < limit; v++ {
		for _, c := range f.newest {
			if c.Version == v {
				p.Changes = append(p.Changes, c)
			}
		}
	}
	p.Next = after.After(p.Changes, "feed", f.last)
	for _, c := range f.newest {
		p.More = p.More || c.Version > p.Next.Version
	}
	return p
}

// TestCheckpointNeverPassesWhatIsNotSettled does everything that may happen to a window, in any
// order, and then lets it end.
func TestCheckpointNeverPassesWhatIsNotSettled(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := &feed{newest: map[report.ID]report.Record{}}
		w := newWindow(report.Cursor{Kinds: []report.Kind{report.Cities}}, time.Now())
		has := map[report.ID]report.Version{} // what the other cluster has
		refused := map[report.Version]bool{}
		var claimed []report.Change
		settle := func(final bool) {
			i := r.IntN(len(claimed))
			c := claimed[i]
			claimed = append(claimed[:i], claimed[i+1:]...)
			s := report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed}
			switch what := r.IntN(6); {
			case what == 0 && !final:
				s.Outcome = report.Retry
			case what == 1:
				s.Outcome = report.Dead
				refused[c.Version] = true
			default:
				has[c.ID] = c.Version
			}
			w.settle(s, time.Now())
		}
		check := func() {
			told, settled := uint64(0), uint64(w.stats(0).Pending)
			for _, n := range w.stats(0).Accepted {
				told += n
			}
			for _, n := range w.stats(0).Settled {
				settled += n
			}
			if told != settled {
				t.Fatalf("seed %d: %d changes were told, and %d are settled or pending", seed, told, settled)
			}
			for id, c := range f.newest {
				if c.Version <= w.before.Version && has[id] != c.Version {
					t.Fatalf("seed %d: the checkpoint is %d, and version %d of %s is not settled", seed, w.before.Version, c.Version, id)
				}
			}
			for id, n := range has {
				for _, c := range claimed {
					if c.ID == id && c.Version < n {
						t.Fatalf("seed %d: version %d of %s is sent after %d", seed, c.Version, id, n)
					}
				}
			}
		}
		for range 200 {
			switch what := r.IntN(5); {
			case what == 0:
				f.change(r)
			case what == 1:
				w.add(f.page(w.read, 1+r.IntN(4)), time.Now())
			case what == 2:
				got := w.claim(1+r.IntN(3), 4, time.Now())
				for _, c := range got {
					if c.Op == report.Index && len(c.Body) == 0 {
						t.Fatalf("seed %d: %s is given out without its record, which is damaged", seed, c.ID)
					}
					for _, other := range claimed {
						if c.ID == other.ID {
							t.Fatalf("seed %d: %s was given out twice", seed, c.ID)
						}
					}
				}
				claimed = append(claimed, got...)
			case what == 3 && len(claimed) > 0:
				settle(false)
			case what == 4 && len(claimed) == 0 && r.IntN(20) == 0:
				w.back(w.before.Version / 2)
				clear(refused)
			}
			check()
		}
		for p := f.page(w.read, 5); ; p = f.page(w.read, 5) {
			w.add(p, time.Now())
			if !p.More {
				break
			}
		}
		for {
			claimed = append(claimed, w.claim(100, 100, time.Now())...)
			if len(claimed) == 0 {
				break
			}
			for len(claimed) > 0 {
				settle(true)
				check()
			}
		}
		if !w.whole {
			t.Errorf("seed %d: it is not whole in the end", seed)
		}
		for id, c := range f.newest {
			if has[id] != c.Version && w.refused[id].Version != c.Version {
				t.Errorf("seed %d: version %d of %s is neither settled nor refused", seed, c.Version, id)
			}
		}
		if len(w.refused) == 0 && (w.before.Version != f.last || len(w.pages) > 0 || w.bytes != 0) {
			t.Errorf("seed %d: in the end the checkpoint is %d of %d, with %d pages and %d bytes", seed, w.before.Version, f.last, len(w.pages), w.bytes)
		}
	}
}

// TestPagesOfAnIdleFeedTakeNoMemory, also behind a document that is refused.
func TestPagesOfAnIdleFeedTakeNoMemory(t *testing.T) {
	f := &feed{newest: map[report.ID]report.Record{}}
	r := rand.New(rand.NewPCG(1, 1))
	w := newWindow(report.Cursor{Kinds: []report.Kind{report.Cities}}, time.Now())
	for len(f.newest) < 3 {
		f.change(r)
	}
	w.add(f.page(w.read, 100), time.Now())
	first := w.claim(1, 100, time.Now())[0]
	w.settle(report.Settlement{Key: first.Key, Version: first.Version, Outcome: report.Dead}, time.Now())
	for range 1000 {
		w.add(f.page(w.read, 100), time.Now())
	}
	if len(w.pages) > 2 {
		t.Errorf("%d pages are kept", len(w.pages))
	}
	if len(w.refused) != 1 || len(w.documents) != 3 {
		t.Errorf("%d refused of %d, want 1 of 3", len(w.refused), len(w.documents))
	}
}

func told(id report.ID, v report.Version) report.Record {
	return report.Record{Change: report.Change{
		Key: report.Key{Kind: report.Cities, ID: id}, Op: report.Index, Version: v, AcceptedAt: time.Unix(int64(v), 0), Body: []byte("{}"),
	}}
}

// pageOf returns the last page of a feed.
func pageOf(changes ...report.Record) report.FeedPage {
	at := report.Cursor{Kinds: []report.Kind{report.Cities}}
	return report.FeedPage{Changes: changes, Next: at.After(changes, "feed", changes[len(changes)-1].Version)}
}

// TestNotWholeWithoutADocumentThatWasDeliveredAnew: a document of the first fill that is
// delivered anew before it is written is still missing.
func TestNotWholeWithoutADocumentThatWasDeliveredAnew(t *testing.T) {
	now := time.Now()
	w := newWindow(report.Cursor{Kinds: []report.Kind{report.Cities}}, now)
	w.add(pageOf(told("X", 1), told("Y", 2)), now)
	w.add(pageOf(told("X", 3)), now)
	list := w.claim(1, 100, now)
	w.settle(report.Settlement{Key: list[0].Key, Version: list[0].Version, Outcome: report.Indexed}, now)
	if w.whole {
		t.Error("whole, and X was never sent")
	}
}

// TestNotWholeWhenTheWriteUnderWayFails: the same, with the write under way.
func TestNotWholeWhenTheWriteUnderWayFails(t *testing.T) {
	now := time.Now()
	w := newWindow(report.Cursor{Kinds: []report.Kind{report.Cities}}, now)
	w.add(pageOf(told("X", 1), told("Y", 2)), now)
	list := w.claim(2, 100, now)
	w.add(pageOf(told("X", 3)), now)
	w.settle(report.Settlement{Key: list[1].Key, Version: 2, Outcome: report.Indexed}, now)
	w.settle(report.Settlement{Key: list[0].Key, Version: 1, Outcome: report.Retry, NotBefore: now.Add(time.Minute)}, now)
	if w.whole {
		t.Error("whole, and X was never written")
	}
}

// TestWhatIsToldAgainDoesNotLag: the index has it, except for what was waiting. If everything is
// told again, that counts as sent again until it is there.
func TestWhatIsToldAgainDoesNotLag(t *testing.T) {
	delivered, now := time.Unix(1, 0), time.Unix(1000, 0)
	for name, again := range map[string]func(w *window){
		"from a version on":  func(w *window) { w.back(0) },
		"from the beginning": func(w *window) { w.again(report.Cursor{Kinds: []report.Kind{report.Cities}}) },
	} {
		w := newWindow(report.Cursor{Kinds: []report.Kind{report.Cities}, Version: 1, Feed: "feed"}, delivered)
		w.add(pageOf(told("X", 1), told("Y", 2)), now)
		list := w.claim(1, 100, now)
		w.settle(report.Settlement{Key: list[0].Key, Version: 1, Outcome: report.Indexed}, now)
		again(w)
		page := pageOf(told("X", 1))
		page.More = true
		w.add(page, now)
		if since := w.stats(0).OldestWaiting; !since.Equal(now) {
			t.Errorf("%s: X, which the index has, lags since %v", name, since)
		}
		if n, want := w.stats(5).Resending, 4; (n > 0) != w.filling || w.filling && n != want {
			t.Errorf("%s: %d documents are sent again, want %d", name, n, want)
		}
		w.add(pageOf(told("Y", 2)), now)
		if since := w.stats(0).OldestWaiting; !since.Equal(time.Unix(2, 0)) {
			t.Errorf("%s: Y, which the index lacks, lags since %v, want since it was delivered", name, since)
		}
		if w.back(0); (w.stats(0).Resending > 0) != (name == "from the beginning") {
			t.Errorf("%s: after it is told again once more, %d documents are sent again", name, w.stats(0).Resending)
		}
		w.add(pageOf(told("X", 1), told("Y", 2)), now)
		for _, c := range w.claim(2, 100, now) {
			w.settle(report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed}, now)
		}
		if n := w.stats(5).Resending; n != 0 {
			t.Errorf("%s: %d documents are sent again, and all are there", name, n)
		}
	}
}
