package conformance

import (
	"testing"
	"time"

	"riskdex/report"
)

// instant is the precision of the clocks of all engines.
const instant = time.Microsecond

// overtake delivers advisory 1 again while it is claimed, and ends the claim with a
// settlement that defers the document by a minute.
func overtake(t *testing.T, h *harness, o report.Outcome) report.Settlement {
	t.Helper()
	h.append(t, advisory("1", "old "+string(o)))
	c := h.claimOne(t, report.Advisories)
	h.append(t, advisory("1", "new "+string(o)))
	s := report.Settlement{Key: c.Key, Version: c.Version, Outcome: o, NotBefore: h.clock.now().Add(time.Minute)}
	h.settleWith(t, s)
	return s
}

func testClaimDebounced(t *testing.T, h *harness) {
	for _, o := range report.Outcomes() {
		s := overtake(t, h, o)
		for _, body := range []string{"newer", "newest"} {
			h.clock.move(report.Debounce - instant)
			h.claimNone(t, report.Advisories)
			h.append(t, advisory("1", body))
		}
		// A settlement that comes too late changes nothing, and others do not wait.
		s.NotBefore = s.NotBefore.Add(time.Hour)
		h.settleWith(t, s)
		h.append(t, advisory("2", "beside"))
		h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
		h.clock.move(report.Debounce - instant)
		h.claimNone(t, report.Advisories)
		h.clock.move(instant)
		c := h.claimOne(t, report.Advisories)
		if string(c.Body) != "newest" {
			t.Errorf("%s: claimed %s, want the newest", o, c.Body)
		}
		h.settle(t, c, report.Indexed)
		if n := h.stats(t, report.Advisories).Pending; n != 0 {
			t.Fatalf("%s: %d pending, want none", o, n)
		}
	}
	// A document is not deferred if its last delivery is long ago when its claim ends,
	// nor if it was not overtaken.
	h.append(t, advisory("1", "a"), advisory("2", "a"))
	both := h.claim(t, report.Advisories)
	h.append(t, advisory("1", "b"))
	h.clock.move(report.Debounce)
	for _, c := range both {
		h.settleWith(t, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed, NotBefore: h.clock.now().Add(time.Minute)})
	}
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	h.append(t, advisory("2", "b"))
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
}

func testClaimDebouncedAtMost(t *testing.T, h *harness) {
	s := overtake(t, h, report.Indexed)
	for h.clock.now().Add(report.Debounce / 2).Before(s.NotBefore) {
		h.clock.move(report.Debounce / 2)
		h.append(t, advisory("1", "again"))
	}
	h.claimNone(t, report.Advisories)
	h.clock.move(s.NotBefore.Sub(h.clock.now()) - instant)
	h.append(t, advisory("1", "the last"))
	h.claimNone(t, report.Advisories)
	h.clock.move(instant)
	if c := h.claimOne(t, report.Advisories); string(c.Body) != "the last" {
		t.Errorf("claimed %s, want the newest", c.Body)
	}
}

func testClaimDebounceSignal(t *testing.T, h *harness) {
	overtake(t, h, report.Indexed)
	h.claimNone(t, report.Advisories)
	h.clock.move(report.Debounce / 2)
	h.append(t, advisory("1", "again"))
	h.claimNone(t, report.Advisories)
	h.drain()
	h.clock.move(report.Debounce)
	if !h.notified() {
		t.Error("no signal at the end of the debounce")
	}
	h.claimOne(t, report.Advisories)
}

func testClaimDebounceOver(t *testing.T, h *harness) {
	h.append(t, advisory("1", "old"))
	c := h.claimOne(t, report.Advisories)
	h.append(t, advisory("1", "new"))
	h.clock.move(report.Debounce)
	h.claimNone(t, report.Advisories)
	h.drain()
	h.settleWith(t, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed, NotBefore: h.clock.now().Add(time.Minute)})
	if !h.drain() {
		t.Error("no signal when the claim of the overtaken version had ended")
	}
}

func testClaimDebounceRetry(t *testing.T, h *harness) {
	s := overtake(t, h, report.Retry)
	h.clock.move(time.Minute - instant)
	h.claimNone(t, report.Advisories)
	h.clock.move(instant)
	c := h.claimOne(t, report.Advisories)
	if c.Version <= s.Version {
		t.Error("the overtaken version was given out, want the newest")
	}
}
