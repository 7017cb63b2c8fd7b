package conformance

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/report"
)

var givenTests = []test{
	{"what the journal knows is no loss", testGivenKnown},
	{"a version that it does not know is one", testGivenLost},
	{"nothing from before is given out until it is acknowledged", testGivenHeld},
	{"a delete of what it may have lost is given out", testGivenDelete},
	{"a code whose city may be lost is refused", testGivenDeleteByCode},
	{"what was acknowledged is no news", testGivenAcknowledged},
	{"the feed begins anew, once it is acknowledged", testGivenFeed},
}

func (h *harness) given(t tester, stamps ...report.Stamp) report.Loss {
	t.Helper()
	if err := h.CheckGiven(context.Background(), stamps); err != nil {
		t.Fatalf("CheckGiven: %v", err)
	}
	s, err := h.Stats(context.Background())
	if err != nil {
		t.Fatalf("Stats: %v", err)
	}
	return s.Loss
}

func (h *harness) acknowledge(t tester) {
	t.Helper()
	if _, err := h.AcknowledgeLoss(context.Background()); err != nil {
		t.Fatalf("AcknowledgeLoss: %v", err)
	}
}

// later is a stamp that the journal would give a document in a minute.
func (h *harness) later(kind report.Kind, id report.ID) report.Stamp {
	return report.Stamp{Key: report.Key{Kind: kind, ID: id}, Version: report.Version(h.clock.now().Add(time.Minute).UnixMicro())}
}

func at(v report.Version) time.Time { return time.UnixMicro(int64(v)).UTC() }

func testGivenKnown(t *testing.T, h *harness) {
	old := h.append(t, city("1", "LON", "{}"), advisory("1", "{}"))
	h.append(t, city("1", "LON", "{}"), remove(report.Advisories, "1"))
	forgotten := h.gone(t, report.Cities, "2")
	for _, c := range append(h.claim(t, report.Cities), h.claim(t, report.Advisories)...) {
		h.settle(t, c, map[report.Op]report.Outcome{report.Index: report.Indexed, report.Delete: report.Deleted}[c.Op])
	}
	h.clock.move(100 * 24 * time.Hour)
	if n, err := h.DropDeleted(t.Context()); err != nil || n != 2 {
		t.Fatalf("DropDeleted = %d, %v", n, err)
	}
	if l := h.given(t, append(old, forgotten)...); l.Lost() {
		t.Errorf("it lacks %+v, want nothing", l)
	}
	outOfReach := h.later(report.Cities, "never delivered")
	outOfReach.Version = 1 << 62 // no clock has made it, and versions above it would run out
	for _, foreign := range [][]report.Stamp{nil, {outOfReach}} {
		if l := h.given(t, foreign...); l.Lost() {
			t.Errorf("it lacks %+v, want nothing", l)
		}
	}
}

func testGivenLost(t *testing.T, h *harness) {
	has := h.append(t, city("1", "LON", "{}"))[0]
	first, last := h.later(report.Cities, "1"), h.later(report.Advisories, "unknown")
	last.Version += 5
	h.clock.move(time.Hour)
	since := h.append(t, city("1", "LON", "{}"))[0] // the document has moved on, and is no evidence
	if l := h.given(t, first); l.Lost() {
		t.Errorf("it lacks %+v, want nothing", l)
	}
	first.ID = "other"
	if l, want := h.given(t, has, since, first, last), (report.Loss{Since: time.Time{}, Until: at(last.Version), Noticed: h.clock.now()}); l != want {
		t.Errorf("it lacks %+v, want %+v", l, want)
	}
	h.reopen(t)
	more := h.later(report.SpecialReports, "1")
	l := h.given(t, more)
	if !l.Since.IsZero() || l.Until != at(more.Version) {
		t.Errorf("it lacks %+v, want both", l)
	}
	if next := h.append(t, city("3", "", "{}"))[0]; next.Version <= more.Version {
		t.Errorf("version %d, want one above %d", next.Version, more.Version)
	}
}

func testGivenHeld(t *testing.T, h *harness) {
	h.append(t, city("settled", "", "{}"), city("dead", "", "{}"), city("marked", "", "{}"))
	for _, c := range h.claim(t, report.Cities) {
		o := report.Indexed
		if c.ID == "dead" {
			o = report.Dead
		}
		h.settle(t, c, o)
	}
	h.append(t, city("claimed", "", "{}"))
	flying := h.claimOne(t, report.Cities)
	before := h.append(t, city("pending", "", "{}"))[0]
	h.given(t, h.later(report.Advisories, "1"))
	l, err := h.Stats(t.Context())
	if err != nil || l.Loss.Since != at(before.Version) {
		t.Errorf("it lacks %+v, %v; want what came after %v", l.Loss, err, at(before.Version))
	}
	h.resend(t, report.Cities, 2)
	h.raise(t, 0, ahead(flying, flying.Version+1000))
	h.settle(t, flying, report.Retry)
	h.claimNone(t, report.Cities)
	for _, e := range h.allEntries(t, report.Cities) {
		stamp := []report.Stamp{{Key: e.Key, Version: e.Version}}
		var err error
		switch e.ID {
		case "dead":
			if _, err := h.ReplaceDead(t.Context(), stamp[0], city("dead", "", "[]")); !errors.Is(err, report.ErrLossOpen) {
				t.Errorf("ReplaceDead: %v", err)
			}
			_, err = h.RetryDead(t.Context(), stamp)
		default:
			continue
		}
		if !errors.Is(err, report.ErrLossOpen) {
			t.Errorf("%s: %v, want ErrLossOpen", e.ID, err)
		}
	}
	h.append(t, city("new", "", "{}"), city("settled", "", "[]"))
	got := h.claim(t, report.Cities)
	if len(got) != 2 {
		t.Fatalf("claimed %v, want what was accepted since", ids(got))
	}
	for _, c := range got {
		h.raise(t, 1, ahead(c, c.Version+1000))
		h.settle(t, c, report.Retry)
	}
	for _, c := range h.claim(t, report.Cities) {
		h.settle(t, c, report.Indexed)
	}
	h.drain()
	h.acknowledge(t)
	if !h.notified() {
		t.Error("no signal after AcknowledgeLoss")
	}
	if got := h.claim(t, report.Cities); len(got) != 3 {
		t.Errorf("claimed %v, want all that was held", ids(got))
	}
}

func testGivenAcknowledged(t *testing.T, h *harness) {
	s := h.append(t, city("1", "", "{}"))[0]
	h.settle(t, h.claimOne(t, report.Cities), report.Indexed)
	lost := h.later(report.Cities, "2")
	h.given(t, lost)
	if _, err := h.Reissue(t.Context(), []report.Stamp{s}); !errors.Is(err, report.ErrLossOpen) {
		t.Errorf("Reissue: %v, want ErrLossOpen", err)
	}
	unknown := report.Change{Key: lost.Key, Op: report.Delete, ExactID: true}
	if _, err := h.Append(t.Context(), report.Delivery{Changes: []report.Change{unknown}}); !errors.Is(err, report.ErrLossOpen) {
		t.Errorf("a document is removed that may be the only copy: %v", err)
	}
	h.acknowledge(t)
	h.reissue(t, 1, s)
	h.reopen(t)
	if l := h.given(t, lost); l.Lost() {
		t.Errorf("it lacks %+v, which somebody has acknowledged", l)
	}
	lost.Version++
	if l := h.given(t, lost); l.Until != at(lost.Version) {
		t.Errorf("it lacks %+v, want another loss", l)
	}
}

func testGivenFeed(t *testing.T, h *harness) {
	h.append(t, city("1", "", "{}"))
	page, err := h.Feed(t.Context(), report.Cursor{Kinds: report.Kinds()}, 10, 1000)
	if err != nil {
		t.Fatal(err)
	}
	h.given(t, h.later(report.Cities, "2"))
	h.append(t, city("3", "", "{}"))
	gone := func() {
		t.Helper()
		if _, err := h.Feed(t.Context(), page.Next, 10, 1000); !errors.Is(err, report.ErrOtherFeed) || !strings.Contains(err.Error(), "set back") {
			t.Errorf("the feed goes on, or its end has another cause: %v", err)
		}
	}
	gone()
	if page, err := h.Feed(t.Context(), report.Cursor{Kinds: report.Kinds()}, 10, 1000); !errors.Is(err, report.ErrLossOpen) {
		t.Errorf("the feed begins with a state that nobody knows to be true: %v, %v", feedIDs(page), err)
	}
	h.acknowledge(t)
	gone()
	page = h.feed(t, report.Cursor{Kinds: report.Kinds()}, 10, 1000)
	if got := feedIDs(page); !slices.Equal(got, []report.ID{"1", "3"}) {
		t.Errorf("changes %q", got)
	}
	more := h.later(report.Cities, "4")
	more.Version++
	h.given(t, more)
	gone()
}

func (h *harness) allEntries(t tester, kind report.Kind) []report.Entry {
	t.Helper()
	list, err := h.Entries(context.Background(), kind, "", 100)
	if err != nil {
		t.Fatalf("Entries: %v", err)
	}
	newest, err := h.Newest(context.Background(), kind, 100)
	if err != nil || len(newest) != len(list) {
		t.Fatalf("Newest = %v, %v, want %d", newest, err, len(list))
	}
	for i, s := range newest[1:] {
		if s.Version >= newest[i].Version {
			t.Errorf("%v is not in order", newest)
		}
	}
	return list
}

// The index may have a city under an id that the journal has lost with its code: no delete by that code
// is answered as one of something unknown, until somebody has decided.
func testGivenDeleteByCode(t *testing.T, h *harness) {
	h.append(t, city("7", "PAR", "{}"), city("8", "ROM", "{}"), remove(report.Cities, "8"))
	h.given(t, h.later(report.Cities, "130"))
	remove := func(path string) report.Stamp {
		t.Helper()
		d := report.Delivery{
			Changes:   []report.Change{remove(report.Cities, path)},
			Ambiguous: func(int) report.Refusal { return refusal(report.Cities, path, path) },
		}
		stamps, err := h.Append(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		return stamps[0]
	}
	for _, path := range []string{"LON", "lon", "ROM"} { // a city that came since may have the code of the last
		if s := remove(path); s.Effect != report.Ambiguous || s.Version != 0 {
			t.Errorf("the delete of %s is %+v, want it refused", path, s)
		}
	}
	h.kept(t, "ROM", "lon", "LON")
	if s := remove("PAR"); s.ID != "7" || s.Effect != report.Changed {
		t.Errorf("the delete of a city that is there is %+v", s)
	}
	for _, path := range []string{"PAR", "130"} {
		if s := remove(path); s.Effect != report.Unknown {
			t.Errorf("the delete of %s is %+v, want one of something unknown", path, s)
		}
	}
	h.acknowledge(t)
	if s := remove("LON"); s.Effect != report.Unknown || s.Version == 0 {
		t.Errorf("once somebody has decided, it is %+v", s)
	}
}

// An index may have what the journal has lost, and the publisher may have deleted it since: also what
// the journal knows as deleted, and after the loss was acknowledged. Once it is deleted, a repeat is
// one.
func testGivenDelete(t *testing.T, h *harness) {
	deleted := h.append(t, city("deleted before", "", "{}"), remove(report.Cities, "deleted before"))[1]
	h.settle(t, h.claimOne(t, report.Cities), report.Deleted)
	lost := h.later(report.Cities, "lost")
	h.given(t, lost)
	h.reopen(t)
	send := func(id report.ID) {
		t.Helper()
		s := h.append(t, remove(report.Cities, string(id)))[0]
		if s.Version <= max(lost.Version, deleted.Version) || s.Effect != report.Unknown {
			t.Errorf("the delete is %+v, want one of something unknown, above version %d", s, lost.Version)
		}
		c := h.claimOne(t, report.Cities)
		if c.ID != id || c.Op != report.Delete {
			t.Errorf("claimed %s of %q, want the delete of %q", c.Op, c.ID, id)
		}
		if d := h.document(t, report.Cities, id); d.By != report.NamedByDeletedID {
			t.Errorf("%q is named by %q, want a deleted id", id, d.By)
		}
		h.settle(t, c, report.Deleted)
		if s := h.append(t, remove(report.Cities, string(id)))[0]; s.Version != 0 {
			t.Errorf("the delete that is repeated has version %d, want none", s.Version)
		}
	}
	send("lost")
	h.acknowledge(t)
	h.reopen(t)
	send("lost too")
	send("deleted before")
}
