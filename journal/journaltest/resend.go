package journaltest

import (
	"slices"
	"testing"

	"riskdex/report"
)

var resendTests = []test{
	{"every settled document is given out again, tombstones too", testResendWhich},
	{"settling again counts nothing", testResendCounts},
	{"a retry stays marked", testResendRetry},
	{"pending changes go first", testResendOrder},
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
	if got, want := ids(h.claim(t, report.Advisories)), []string{"waiting", "live", "gone"}; !slices.Equal(got, want) {
		t.Errorf("claimed %v, want %v", got, want)
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
	if got := h.claimUpTo(t, report.Advisories, 1, 100); len(got) != 1 || got[0].ID != "new" {
		t.Errorf("claimed %v first, want the pending one", ids(got))
	}
	h.claimOne(t, report.Advisories)
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
