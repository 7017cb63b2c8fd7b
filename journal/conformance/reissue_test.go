package conformance

import (
	"context"
	"testing"
	"time"

	"riskdex/report"
)

var reissueTests = []test{
	{"a settled document is sent once more, under a new version", testRenew},
	{"tombstones are renewed too", testRenewTombstone},
	{"only the newest version of a settled document is renewed", testRenewWhich},
	{"a newer delivery ends the mark", testRenewOvertaken},
	{"renewed documents survive a restart", testRenewRestart},
	{"a document that is in flight again is not renewed", testRenewInFlight},
	{"thousands at once", testRenewMany},
}

func (h *harness) reissue(t tester, want int, stamps ...report.Stamp) {
	t.Helper()
	n, err := h.Reissue(context.Background(), stamps)
	if err != nil || n != want {
		t.Fatalf("Reissue = %d, %v, want %d", n, err, want)
	}
}

func testRenew(t *testing.T, h *harness) {
	s := h.append(t, city("1", "LON", "{}"))[0]
	first := h.claimOne(t, report.Cities)
	h.settle(t, first, report.Indexed)
	h.clock.move(time.Minute)
	h.drain()
	h.reissue(t, 1, s)
	if !h.notified() {
		t.Error("no signal after Reissue")
	}
	h.expect(t, report.Cities, "index=1 indexed=1 resending=1")
	c := h.claimOne(t, report.Cities)
	if c.Version <= s.Version || !c.Resent || c.Code != "LON" || string(c.Body) != "{}" || !c.AcceptedAt.Equal(h.start) {
		t.Errorf("it came back as %+v", c)
	}
	h.settle(t, first, report.Indexed) // late, of the old version
	h.expect(t, report.Cities, "index=1 indexed=1 resending=1")
	h.settle(t, c, report.Indexed)
	h.expect(t, report.Cities, "index=1 indexed=1")
	if next := h.append(t, city("2", "", "{}"))[0]; next.Version <= c.Version {
		t.Errorf("version %d after %d, want it above", next.Version, c.Version)
	}
}

func testRenewTombstone(t *testing.T, h *harness) {
	s := h.gone(t, report.Advisories, "1")
	h.settle(t, h.claimOne(t, report.Advisories), report.Deleted)
	h.reissue(t, 1, s)
	if c := h.claimOne(t, report.Advisories); c.Op != report.Delete || c.Body != nil || c.Version <= s.Version {
		t.Errorf("it came back as %+v", c)
	}
}

func testRenewWhich(t *testing.T, h *harness) {
	stamps := h.append(t, advisory("pending", "a"), advisory("dead", "a"), advisory("marked", "a"), advisory("overtaken", "a"))
	for _, c := range h.claim(t, report.Advisories) {
		o := map[report.ID]report.Outcome{"pending": report.Retry, "dead": report.Dead}[c.ID]
		if o == "" {
			o = report.Indexed
		}
		h.settle(t, c, o)
	}
	h.resend(t, report.Advisories, 2)
	h.append(t, advisory("overtaken", "b"))
	h.settle(t, h.claimOneOf(t, report.Advisories, "overtaken"), report.Indexed)
	unknown := report.Stamp{Key: report.Key{Kind: report.Cities, ID: "pending"}, Version: stamps[0].Version}
	h.reissue(t, 0, append(stamps, unknown)...)
	if _, err := h.Reissue(t.Context(), []report.Stamp{{Key: report.Key{Kind: "countries", ID: "1"}, Version: 1}}); err == nil {
		t.Error("an unknown kind was taken")
	}
}

func testRenewOvertaken(t *testing.T, h *harness) {
	s := h.append(t, advisory("1", "a"))[0]
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	h.reissue(t, 1, s)
	old := h.claimOne(t, report.Advisories)
	newer := h.append(t, advisory("1", "b"))[0]
	if newer.Version <= old.Version {
		t.Errorf("version %d after %d, want it above", newer.Version, old.Version)
	}
	h.settle(t, old, report.Indexed)
	if c := h.claimOne(t, report.Advisories); c.Resent || string(c.Body) != "b" {
		t.Errorf("claimed %+v, want the newest", c)
	}
	h.expect(t, report.Advisories, "index=2 indexed=1 pending=1")
}

func testRenewRestart(t *testing.T, h *harness) {
	s := h.append(t, advisory("1", "a"))[0]
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	h.reissue(t, 1, s)
	h.clock.move(-24 * time.Hour)
	h.reopen(t)
	c := h.claimOne(t, report.Advisories)
	if !c.Resent || c.Version <= s.Version {
		t.Errorf("it came back as %+v", c)
	}
	if next := h.append(t, advisory("2", "a"))[0]; next.Version <= c.Version {
		t.Errorf("version %d after %d, want it above", next.Version, c.Version)
	}
}

func testRenewInFlight(t *testing.T, h *harness) {
	s := h.append(t, advisory("1", "a"))[0]
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	h.resend(t, report.Advisories, 1)
	c := h.claimOne(t, report.Advisories)
	h.reissue(t, 0, s)
	h.settle(t, c, report.Indexed)
	h.reissue(t, 1, s)
	h.reissue(t, 0, s)
	h.claimOne(t, report.Advisories)
}

func testRenewMany(t *testing.T, h *harness) {
	var changes []report.Change
	for i := range 1200 {
		changes = append(changes, advisory(number(i), "a"))
	}
	stamps := h.append(t, changes...)
	for got := h.claim(t, report.Advisories); len(got) > 0; got = h.claim(t, report.Advisories) {
		h.settleAll(t, got, report.Indexed)
	}
	h.reissue(t, len(stamps), stamps...)
	h.expect(t, report.Advisories, "index=1200 indexed=1200 resending=1200")
	seen := map[report.Version]bool{}
	for got := h.claim(t, report.Advisories); len(got) > 0; got = h.claim(t, report.Advisories) {
		for _, c := range got {
			seen[c.Version] = true
		}
	}
	if len(seen) != len(stamps) {
		t.Errorf("%d different versions, want %d", len(seen), len(stamps))
	}
}
