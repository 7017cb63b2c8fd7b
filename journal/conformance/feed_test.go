package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"riskdex/journal"
	"riskdex/report"
)

var feedTests = []test{
	{"pages are bounded, and go on where the one before ended", testFeedPages},
	{"a cursor is of its kinds, and a delete is told", testFeedKinds},
	{"a cursor from before a forgotten delete is too old, and no other", testFeedTooOld},
	{"a cursor of another journal is refused, and of one that has less", testFeedOther},
	{"who waits is told of a commit", testFeedCommitted},
	{"a feed goes on after a restart", testFeedReopen},
}

// follower keeps what the feed of a journal tells: a copy of its documents.
type follower struct {
	cursor report.Cursor
	has    map[report.Key]string // the records of documents that are not deleted
	begun  int                   // how often it began anew
}

// newFollower begins to follow all kinds.
func newFollower() *follower {
	f := &follower{}
	f.begin()
	return f
}

func (f *follower) begin() {
	f.cursor, f.has = report.Cursor{Kinds: report.Kinds()}, map[report.Key]string{}
	f.begun++
}

// read reads one page, and reports whether there is more. It begins anew where the cursor is too
// old.
func (f *follower) read(ctx context.Context, j journal.Journal, limit, maxBytes int) (more bool, err error) {
	page, err := j.Feed(ctx, f.cursor, limit, maxBytes)
	if errors.Is(err, report.ErrCursorTooOld) || errors.Is(err, report.ErrOtherFeed) {
		f.begin()
		return true, nil
	}
	if err != nil {
		return false, err
	}
	last := f.cursor.Version
	for _, r := range page.Changes {
		if r.Version <= last {
			return false, fmt.Errorf("%s %q has version %d after %d", r.Kind, r.ID, r.Version, last)
		}
		last = r.Version
		if r.Op == report.Delete {
			delete(f.has, r.Key)
		} else {
			f.has[r.Key] = feedText(r)
		}
	}
	if len(page.Changes) > limit {
		return false, fmt.Errorf("%d changes, want up to %d", len(page.Changes), limit)
	}
	f.cursor, err = report.ParseCursor(page.Next.String())
	return page.More, err
}

// differs returns what the follower has otherwise than the journal, which must not change
// meanwhile.
func (f *follower) differs(ctx context.Context, j journal.Journal) (list []string, err error) {
	for more := true; more; {
		if more, err = f.read(ctx, j, 7, 100); err != nil {
			return nil, err
		}
	}
	want := map[report.Key]string{}
	for _, kind := range report.Kinds() {
		for r, err := range j.Records(ctx, kind) {
			if err != nil {
				return nil, err
			}
			want[r.Key] = feedText(r)
		}
	}
	for k := range maps.Keys(f.has) {
		if _, there := want[k]; !there {
			list = append(list, fmt.Sprintf("%s %q is %s, and is deleted", k.Kind, k.ID, f.has[k]))
		}
	}
	for k, text := range want {
		if f.has[k] != text {
			list = append(list, fmt.Sprintf("%s %q is %q, want %q", k.Kind, k.ID, f.has[k], text))
		}
	}
	return list, nil
}

func feedText(r report.Record) string { return fmt.Sprintf("%d %s %s", r.Version, r.Body, r.Lost) }

func (h *harness) feed(t tester, after report.Cursor, limit, maxBytes int) report.FeedPage {
	t.Helper()
	page, err := h.Feed(context.Background(), after, limit, maxBytes)
	if err != nil {
		t.Fatalf("Feed: %v", err)
	}
	return page
}

func feedIDs(page report.FeedPage) (list []report.ID) {
	for _, r := range page.Changes {
		list = append(list, r.ID)
	}
	return list
}

func testFeedPages(t *testing.T, h *harness) {
	h.append(t, advisory("a", "1"), city("b", "LON", "1"), advisory("c", "1234567890"), index(report.SpecialReports, "d", "", "1"))
	h.append(t, advisory("a", "2"))
	at := report.Cursor{Kinds: report.Kinds()}
	for _, want := range []struct {
		limit, bytes int
		ids          []report.ID
		more         bool
	}{
		{1, 100, []report.ID{"b"}, true},
		{5, 4, []report.ID{"c"}, true}, // too large a record comes alone
		{5, 100, []report.ID{"d", "a"}, false},
		{5, 100, nil, false},
	} {
		page := h.feed(t, at, want.limit, want.bytes)
		if !slices.Equal(feedIDs(page), want.ids) || page.More != want.more {
			t.Fatalf("page %q, more %t; want %q, %t", feedIDs(page), page.More, want.ids, want.more)
		}
		at = page.Next
	}
	page := h.feed(t, report.Cursor{Kinds: report.Kinds()}, 1, 1)
	if r := page.Changes[0]; r.Kind != report.Cities || r.Code != "LON" || !r.HasCode || string(r.Body) != "1" || !r.AcceptedAt.Equal(h.start) {
		t.Errorf("record %+v", r)
	}
}

func testFeedKinds(t *testing.T, h *harness) {
	h.append(t, advisory("a", "1"), city("b", "", "1"))
	page := h.feed(t, report.Cursor{Kinds: []report.Kind{report.Advisories}}, 10, 100)
	if !slices.Equal(feedIDs(page), []report.ID{"a"}) {
		t.Fatalf("advisories %q", feedIDs(page))
	}
	h.append(t, remove(report.Cities, "b"))
	h.append(t, remove(report.Advisories, "a"))
	page = h.feed(t, page.Next, 10, 100)
	if len(page.Changes) != 1 || page.Changes[0].Op != report.Delete || page.Changes[0].ID != "a" || page.Changes[0].Body != nil {
		t.Errorf("changes %+v, want the delete of a", page.Changes)
	}
}

func testFeedTooOld(t *testing.T, h *harness) {
	h.append(t, advisory("gone", "1"))
	h.append(t, city("b", "", "1"))
	before, cities := h.feed(t, report.Cursor{Kinds: report.Kinds()}, 10, 100).Next, h.feed(t, report.Cursor{Kinds: []report.Kind{report.Cities}}, 10, 100).Next
	h.append(t, remove(report.Advisories, "gone"))
	h.settleAll(t, h.claim(t, report.Advisories), report.Deleted)
	told := h.feed(t, before, 10, 100).Next
	begun := h.feed(t, report.Cursor{Kinds: report.Kinds()}, 1, 100).Next
	h.clock.move(longAfter)
	h.dropDeleted(t, report.Advisories, 1, 0)
	if _, err := h.Feed(context.Background(), before, 10, 100); !errors.Is(err, report.ErrCursorTooOld) {
		t.Errorf("the feed goes on from before a forgotten delete: %v", err)
	}
	for what, c := range map[string]report.Cursor{"of another kind": cities, "that was told": told, "that began after the delete": begun, "of the beginning": {Kinds: report.Kinds()}} {
		if _, err := h.Feed(context.Background(), c, 10, 100); err != nil {
			t.Errorf("a cursor %s: %v", what, err)
		}
	}
}

func testFeedOther(t *testing.T, h *harness) {
	h.append(t, advisory("a", "1"))
	at := h.feed(t, report.Cursor{Kinds: report.Kinds()}, 10, 100).Next
	if _, err := h.other(t).Feed(context.Background(), at, 10, 100); !errors.Is(err, report.ErrOtherFeed) {
		t.Errorf("another journal: %v", err)
	}
	at.Version += report.Version(time.Hour.Microseconds())
	if _, err := h.Feed(context.Background(), at, 10, 100); !errors.Is(err, report.ErrOtherFeed) {
		t.Errorf("a version that is not given out yet: %v", err)
	}
}

func testFeedCommitted(t *testing.T, h *harness) {
	at := h.feed(t, report.Cursor{Kinds: report.Kinds()}, 10, 100).Next
	told := h.Committed()
	h.append(t, advisory("a", "1"))
	select {
	case <-told:
	case <-time.After(10 * time.Second):
		t.Fatal("nobody is told of a commit")
	}
	if got := feedIDs(h.feed(t, at, 10, 100)); !slices.Equal(got, []report.ID{"a"}) {
		t.Errorf("changes %q", got)
	}
}

func testFeedReopen(t *testing.T, h *harness) {
	h.append(t, advisory("a", "1"))
	at := h.feed(t, report.Cursor{Kinds: report.Kinds()}, 10, 100).Next
	h.append(t, advisory("b", "1"))
	h.reopen(t)
	h.append(t, advisory("c", "1"))
	if got := feedIDs(h.feed(t, at, 10, 100)); !slices.Equal(got, []report.ID{"b", "c"}) {
		t.Errorf("changes %q", got)
	}
}

// testFeedModel does random things to a journal, while a follower reads pages of every size: it
// has what the journal has whenever it has read them all.
func testFeedModel(t *testing.T, open opener) {
	rapid.Check(t, func(r *rapid.T) {
		h := newHarness(t, open, journal.Options{})
		defer func() {
			if err := h.Close(); err != nil {
				r.Errorf("Close: %v", err)
			}
		}()
		f := newFollower()
		key := func() (report.Kind, string) {
			return kinds.Draw(r, "kind"), rapid.SampledFrom([]string{"1", "2", "3", "4", "LON"}).Draw(r, "id")
		}
		r.Repeat(map[string]func(*rapid.T){
			"put": func(r *rapid.T) {
				var list []report.Change
				for n := range rapid.IntRange(1, 4).Draw(r, "records") {
					kind, id := key()
					code := ""
					if kind == report.Cities {
						code = rapid.SampledFrom([]string{"", "LON", "PAR"}).Draw(r, "code")
					}
					list = append(list, index(kind, id, code, fmt.Sprint(n)))
				}
				_, err := h.Append(context.Background(), report.Delivery{Changes: list})
				if err != nil && !errors.Is(err, report.ErrAmbiguous) {
					r.Fatalf("Append: %v", err)
				}
			},
			"delete": func(r *rapid.T) {
				kind, id := key()
				_, err := h.Append(context.Background(), report.Delivery{Changes: []report.Change{remove(kind, id)}})
				if err != nil && !errors.Is(err, report.ErrAmbiguous) {
					r.Fatalf("Append: %v", err)
				}
			},
			"settle": func(r *rapid.T) {
				for _, kind := range report.Kinds() {
					h.settleAll(r, h.claim(r, kind), rapid.SampledFrom([]report.Outcome{report.Indexed, report.Dead}).Draw(r, "outcome"))
				}
			},
			"renew": func(r *rapid.T) {
				kind := kinds.Draw(r, "kind")
				var list []report.Stamp
				for _, e := range h.entries(r, kind, "", 100) {
					list = append(list, e.Stamp)
				}
				if _, err := h.Reissue(context.Background(), list); err != nil {
					r.Fatalf("Reissue: %v", err)
				}
			},
			"much later": func(r *rapid.T) {
				h.clock.move(longAfter)
				if _, err := h.DropDeleted(context.Background()); err != nil {
					r.Fatalf("DropDeleted: %v", err)
				}
			},
			"reopen": func(r *rapid.T) { h.reopen(r) },
			"read a page": func(r *rapid.T) {
				if _, err := f.read(context.Background(), h, rapid.IntRange(1, 5).Draw(r, "limit"), rapid.IntRange(0, 5).Draw(r, "bytes")); err != nil {
					r.Fatalf("Read: %v", err)
				}
			},
			"": func(r *rapid.T) {
				c, has := f.cursor, maps.Clone(f.has)
				if list, err := f.differs(context.Background(), h); err != nil || len(list) > 0 {
					r.Fatalf("the follower differs: %v, %q", err, list)
				}
				f.cursor, f.has = c, has // so that it goes on from far behind, too
			},
		})
	})
}
