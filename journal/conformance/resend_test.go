package conformance

import (
	"maps"
	"testing"

	"riskdex/report"
)

var resendTests = []test{
	{"every settled document is given out again, tombstones too", testResendWhich},
	{"only recent tombstones are given out again where that is asked for", testResendDeleted},
	{"settling again is not counted", testResendCounts},
	{"a retry stays marked", testResendRetry},
	{"a pending change goes first", testResendOrder},
	{"about a quarter is sent again while others are pending", testResendShare},
	{"a newer version ends the mark", testResendOvertaken},
	{"the marks survive a restart", testResendRestart},
}

func testResendWhich(t *testing.T, h *harness) {
	h.append(t, advisory("live", "a"), advisory("gone", "a"), advisory("bad", "a"), advisory("waiting", "a"), city("other", "", "a"))
	h.append(t, remove(report.Advisories, "gone"))
	for _, c := range h.claim(t, report.Advisories) {
		o := map[report.ID]report.Outcome{"live": report.Indexed, "gone": report.Deleted, "bad": report.Dead, "waiting": report.Retry}[c.ID]
		h.settle(t, c, o)
	}
	h.settle(t, h.claimOne(t, report.Cities), report.Indexed)
	h.settle(t, h.claimOne(t, report.Advisories), report.Retry)
	h.resend(t, report.Advisories, 2)
	h.resend(t, report.Advisories, 0)
	h.claimNone(t, report.Cities)
	h.expect(t, report.Advisories, "index=4 delete=1 indexed=1 deleted=1 superseded=1 dead=1 pending=1 resending=2 letters=1")
	again := map[string]bool{}
	for _, c := range h.claim(t, report.Advisories) {
		again[string(c.ID)] = c.Resent
	}
	if want := map[string]bool{"waiting": false, "live": true, "gone": true}; !maps.Equal(again, want) {
		t.Errorf("claimed %v, want %v", again, want)
	}
}

func testResendDeleted(t *testing.T, h *harness) {
	gone := func(ids ...string) {
		for _, id := range ids {
			h.gone(t, report.Advisories, id)
			h.settle(t, h.claimOne(t, report.Advisories), report.Deleted)
		}
	}
	gone("long ago")
	h.clock.move(1e9)
	since := h.clock.now()
	gone("just then", "later")
	h.append(t, advisory("live", "a"))
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	h.append(t, city("gone", "", "a"))
	h.settle(t, h.claimOne(t, report.Cities), report.Indexed)
	h.append(t, remove(report.Cities, "gone"))
	h.settle(t, h.claimOne(t, report.Cities), report.Deleted)
	for _, want := range []int{2, 0} {
		if n, err := h.ResendDeleted(t.Context(), report.Advisories, since); n != want || err != nil {
			t.Fatalf("%d marked, %v; want %d", n, err, want)
		}
	}
	h.claimNone(t, report.Cities)
	again := map[report.ID]bool{}
	for _, c := range h.claim(t, report.Advisories) {
		again[c.ID] = c.Resent && c.Op == report.Delete
	}
	if want := map[report.ID]bool{"just then": true, "later": true}; !maps.Equal(again, want) {
		t.Errorf("claimed %v, want %v", again, want)
	}
}

func testResendCounts(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	for _, o := range []report.Outcome{report.Indexed, report.Superseded, report.Deleted} {
		h.resend(t, report.Advisories, 1)
		h.settle(t, h.claimOne(t, report.Advisories), o)
		h.expect(t, report.Advisories, "index=1 indexed=1")
	}
	h.resend(t, report.Advisories, 1)
	h.settle(t, h.claimOne(t, report.Advisories), report.Dead)
	h.expect(t, report.Advisories, "index=1 indexed=1 letters=1")
}

func testResendRetry(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	h.resend(t, report.Advisories, 1)
	h.settle(t, h.claimOne(t, report.Advisories), report.Retry)
	h.expect(t, report.Advisories, "index=1 indexed=1 resending=1")
	h.claimOne(t, report.Advisories)
}

func testResendOrder(t *testing.T, h *harness) {
	h.append(t, advisory("old", "a"))
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	h.clock.move(1e9)
	h.append(t, advisory("new", "a"))
	h.resend(t, report.Advisories, 1)
	if got := h.claimUpTo(t, report.Advisories, 1, 100); len(got) != 1 || got[0].ID != "new" || got[0].Resent {
		t.Errorf("claimed %v first, want the pending one", got)
	}
	if c := h.claimOne(t, report.Advisories); c.ID != "old" || !c.Resent {
		t.Errorf("claimed %+v, want the one to be sent again", c)
	}
}

// testResendShare claims portions of every size, bounded by count or by bytes: each has
// changes of one sort, and in the long run a quarter of them are sent again as long as
// there are both.
func testResendShare(t *testing.T, h *harness) {
	const each = 120
	for _, c := range []struct{ changes, bytes, portion int }{
		{1, 1000, 1}, {2, 1000, 2}, {3, 1000, 3}, {4, 1000, 4}, {20, 1000, 20}, {1000, 10, 1}, {1000, 70, 7},
	} {
		var changes []report.Change
		for i := range each {
			changes = append(changes, advisory("settled"+number(i), "0123456789"))
		}
		h.append(t, changes...)
		h.settleAll(t, h.claim(t, report.Advisories), report.Indexed)
		if _, err := report.ResendAll(t.Context(), h, report.Advisories); err != nil {
			t.Fatal(err)
		}
		changes = nil
		for i := range each {
			changes = append(changes, advisory("pending"+number(i), "0123456789"))
		}
		h.append(t, changes...)

		count := map[bool]int{}
		for count[false] < each {
			claimed := h.claimUpTo(t, report.Advisories, c.changes, c.bytes)
			for _, got := range claimed {
				count[got.Resent]++
				if got.Resent != claimed[0].Resent {
					t.Fatalf("in portions of %d: pending ones and such as are sent again were claimed together", c.portion)
				}
			}
		}
		if got := count[true]; got < each/3-c.portion || got > each/3+c.portion {
			t.Errorf("in portions of %d: %d were sent again beside %d pending ones", c.portion, got, each)
		}
		for got := h.claim(t, report.Advisories); len(got) > 0; got = h.claim(t, report.Advisories) {
			count[true] += len(got)
		}
		if count[true] != each {
			t.Errorf("%d were sent again in all, want %d", count[true], each)
		}
		h.reopen(t)
		for got := h.claim(t, report.Advisories); len(got) > 0; got = h.claim(t, report.Advisories) {
			h.settleAll(t, got, report.Indexed)
		}
	}
}

func testResendOvertaken(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	h.resend(t, report.Advisories, 1)
	old := h.claimOne(t, report.Advisories)
	h.append(t, advisory("1", "b"))
	h.expect(t, report.Advisories, "index=2 indexed=1 pending=1")
	h.claimNone(t, report.Advisories)
	h.settle(t, old, report.Indexed)
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	h.expect(t, report.Advisories, "index=2 indexed=2")
}

func testResendRestart(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	h.resend(t, report.Advisories, 1)
	h.claimOne(t, report.Advisories)
	h.reopen(t)
	h.expect(t, report.Advisories, "index=1 indexed=1 resending=1")
	h.claimOne(t, report.Advisories)
}
