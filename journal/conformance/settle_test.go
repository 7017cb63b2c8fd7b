package conformance

import (
	"testing"
	"time"

	"riskdex/report"
)

var settleTests = []test{
	{"every outcome is counted once", testSettleEnds},
	{"settling twice is harmless", testSettleTwice},
	{"settling an unknown change is harmless", testSettleUnknown},
	{"a late settlement does not end a newer claim", testSettleLate},
	{"an overtaken write keeps the lag of a hot document short", testSettleHot},
	{"several settlements at once", testSettleMany},
}

func testSettleEnds(t *testing.T, h *harness) {
	for o, want := range map[report.Outcome]string{
		report.Indexed: "index=1 indexed=1", report.Deleted: "index=1 deleted=1",
		report.Superseded: "index=1 superseded=1",
	} {
		kind := map[report.Outcome]report.Kind{report.Indexed: report.Cities, report.Deleted: report.Advisories, report.Superseded: report.SpecialReports}[o]
		h.append(t, index(kind, "1", "", "a"))
		h.settle(t, h.claimOne(t, kind), o)
		h.expect(t, kind, want)
		h.claimNone(t, kind)
	}
	h.append(t, city("2", "", "b"))
	c := h.claimOne(t, report.Cities)
	h.settleWith(t, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Dead, ErrorType: "mapper_parsing_exception", Reason: "no"})
	h.expect(t, report.Cities, "index=2 indexed=1 dead=1 letters=1")
	h.claimNone(t, report.Cities)
	h.reopen(t)
	h.expect(t, report.Cities, "index=2 indexed=1 dead=1 letters=1")
	h.claimNone(t, report.Cities)
}

func testSettleTwice(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	c := h.claimOne(t, report.Advisories)
	h.settle(t, c, report.Indexed)
	for _, o := range append(report.Outcomes(), report.Retry) {
		h.settle(t, c, o)
		h.expect(t, report.Advisories, "index=1 indexed=1")
	}
	h.claimNone(t, report.Advisories)
}

func testSettleUnknown(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	c := h.claimOne(t, report.Advisories)
	stranger := c
	stranger.ID = "2"
	h.settle(t, stranger, report.Indexed)
	c.Version++ // never given out
	h.settle(t, c, report.Indexed)
	h.expect(t, report.Advisories, "index=1 pending=1")
	h.claimNone(t, report.Advisories)
}

func testSettleLate(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	old := h.claimOne(t, report.Advisories)
	h.append(t, advisory("1", "b"))
	h.settle(t, old, report.Indexed)
	newer := h.claimOne(t, report.Advisories)
	h.settle(t, old, report.Retry)
	h.claimNone(t, report.Advisories)
	h.settle(t, newer, report.Indexed)
	h.expect(t, report.Advisories, "index=2 indexed=1 superseded=1")
}

func testSettleHot(t *testing.T, h *harness) {
	for _, c := range []struct {
		outcome report.Outcome
		fresh   bool
	}{{report.Indexed, true}, {report.Deleted, true}, {report.Superseded, false}, {report.Dead, false}, {report.Retry, false}} {
		before := h.clock.now()
		h.append(t, advisory("1", "a"))
		old := h.claimOne(t, report.Advisories)
		h.clock.move(time.Minute)
		newer := h.clock.now()
		h.append(t, advisory("1", "b"))
		h.clock.move(time.Minute)
		h.settle(t, old, c.outcome)
		want := before
		if c.fresh {
			want = newer
		}
		if got := h.stats(t, report.Advisories).OldestWaiting; !got.Equal(want) {
			t.Errorf("%s: the document waits since %v, want %v", c.outcome, got, want)
		}
		h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	}
}

func testSettleMany(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"), advisory("2", "a"), advisory("3", "a"))
	var list []report.Settlement
	for i, c := range h.claim(t, report.Advisories) {
		list = append(list, report.Settlement{Key: c.Key, Version: c.Version, Outcome: []report.Outcome{report.Indexed, report.Dead, report.Retry}[i]})
	}
	if err := h.Settle(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	h.expect(t, report.Advisories, "index=3 indexed=1 dead=1 pending=1 letters=1")
	if c := h.claimOne(t, report.Advisories); c.ID != "3" {
		t.Errorf("claimed %q, want the retry", c.ID)
	}
}
