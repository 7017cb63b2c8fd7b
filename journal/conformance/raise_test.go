package conformance

import (
	"context"
	"math"
	"testing"
	"time"

	"riskdex/report"
)

var raiseTests = []test{
	{"versions pass that of the index, now and later", testPass},
	{"tombstones and documents that are sent again pass, too", testPassAgain},
	{"only the newest version of a pending document passes", testPassWhich},
	{"a version out of reach is not followed", testPassOutOfReach},
	{"the versions stay ahead after a restart", testPassRestart},
	{"a later refusal stays newer than what passed", testPassOrigin},
}

func (h *harness) raise(t tester, want int, list ...report.Ahead) {
	t.Helper()
	n, err := h.RaiseVersions(context.Background(), list)
	if err != nil || n != want {
		t.Fatalf("RaiseVersions = %d, %v, want %d", n, err, want)
	}
}

func ahead(c report.Change, index report.Version) report.Ahead {
	return report.Ahead{Stamp: report.Stamp{Key: c.Key, Version: c.Version}, Index: index}
}

func testPass(t *testing.T, h *harness) {
	h.append(t, city("1", "LON", "{}"), city("2", "", "{}"))
	c := h.claimOneOf(t, report.Cities, "1")
	other := h.claimOne(t, report.Cities)
	index := report.Version(h.start.Add(30 * 24 * time.Hour).UnixMicro())
	h.drain()
	h.raise(t, 1, ahead(c, index))
	h.claimNone(t, report.Cities) // it is still claimed
	h.settle(t, c, report.Retry)
	if !h.notified() {
		t.Error("no signal after RaiseVersions")
	}
	passed := h.claimOne(t, report.Cities)
	if passed.Version <= index || passed.Resent || passed.Code != "LON" || string(passed.Body) != "{}" || !passed.AcceptedAt.Equal(h.start) {
		t.Errorf("claimed %+v, want the change with a version above the index's", passed)
	}
	h.expect(t, report.Cities, "index=2 pending=2")
	h.settle(t, c, report.Indexed) // late, of the old version
	h.expect(t, report.Cities, "index=2 pending=2")
	h.settle(t, passed, report.Indexed)
	h.settle(t, other, report.Indexed)
	h.expect(t, report.Cities, "index=2 indexed=2")
	if next := h.append(t, city("3", "", "{}"))[0]; next.Version <= passed.Version {
		t.Errorf("version %d after %d, want it above", next.Version, passed.Version)
	}
	if next := h.append(t, city("1", "", "{}"))[0]; next.Version <= passed.Version {
		t.Errorf("version %d after %d, want it above", next.Version, passed.Version)
	}
}

func testPassAgain(t *testing.T, h *harness) {
	h.gone(t, report.Advisories, "1")
	h.settle(t, h.claimOne(t, report.Advisories), report.Deleted)
	h.resend(t, report.Advisories, 1)
	c := h.claimOne(t, report.Advisories)
	h.raise(t, 1, ahead(c, c.Version+1_000_000))
	h.settle(t, c, report.Retry)
	passed := h.claimOne(t, report.Advisories)
	if passed.Version <= c.Version+1_000_000 || !passed.Resent || passed.Op != report.Delete || passed.Body != nil {
		t.Errorf("it came back as %+v", passed)
	}
	h.expect(t, report.Advisories, "index=1 delete=1 deleted=1 superseded=1 resending=1")
	h.settle(t, passed, report.Deleted)
	h.expect(t, report.Advisories, "index=1 delete=1 deleted=1 superseded=1")
}

func testPassWhich(t *testing.T, h *harness) {
	h.append(t, advisory("settled", "a"), advisory("dead", "a"), advisory("overtaken", "a"))
	var list []report.Ahead
	claimed := h.claim(t, report.Advisories)
	h.append(t, advisory("overtaken", "b"))
	for _, c := range claimed {
		h.settle(t, c, map[report.ID]report.Outcome{"settled": report.Indexed, "dead": report.Dead, "overtaken": report.Retry}[c.ID])
		list = append(list, ahead(c, c.Version+1_000_000_000))
	}
	unknown := list[0]
	unknown.ID = "unknown"
	h.raise(t, 0, append(list, unknown)...)
	if next := h.append(t, advisory("next", "a"))[0]; next.Version > list[0].Index {
		t.Errorf("version %d although no change had to pass the index", next.Version)
	}
	if _, err := h.RaiseVersions(t.Context(), []report.Ahead{{Stamp: report.Stamp{Key: report.Key{Kind: "countries", ID: "1"}, Version: 1}}}); err == nil {
		t.Error("an unknown kind was taken")
	}
}

func testPassOutOfReach(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	c := h.claimOne(t, report.Advisories)
	h.raise(t, 0, ahead(c, math.MaxInt64))
	h.raise(t, 0, ahead(c, 9_200_000_000_000_000_000))
	h.settle(t, c, report.Retry)
	if c := h.claimOne(t, report.Advisories); !c.Version.InReach(h.start) {
		t.Errorf("it came back as %+v", c)
	}
	if next := h.append(t, advisory("2", "a"))[0]; !next.Version.InReach(h.start) {
		t.Errorf("version %d, want one that did not follow the index", next.Version)
	}
}

func testPassRestart(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	c := h.claimOne(t, report.Advisories)
	index := c.Version + 1_000_000_000
	h.raise(t, 1, ahead(c, index))
	h.reopen(t)
	if c := h.claimOne(t, report.Advisories); c.Version <= index || string(c.Body) != "a" {
		t.Errorf("it came back as %+v", c)
	}
	if next := h.append(t, advisory("2", "a"))[0]; next.Version <= index {
		t.Errorf("version %d after %d, want it above", next.Version, index)
	}
}

func testPassOrigin(t *testing.T, h *harness) {
	h.append(t, advisory("1", "old"))
	seq := h.refuse(t, refusal(report.Advisories, "", "bad"))
	c := h.claimOne(t, report.Advisories)
	h.raise(t, 1, ahead(c, c.Version+1_000_000_000))
	h.settle(t, c, report.Retry)
	if s := h.retry(t, seq, advisory("1", "edited"))[0]; s.Version == 0 {
		t.Error("the retry was left out, though its refusal is newer")
	}
	h.newest(t, report.Advisories, "1", "edited")
}
