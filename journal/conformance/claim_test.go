package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"riskdex/report"
)

var claimTests = []test{
	{"a Claim that found nothing hides nothing later", testClaimAfterNone},
	{"changes that have waited longest come first", testClaimOrder},
	{"limits", testClaimLimits},
	{"a claimed document is not given out again", testClaimExclusive},
	{"a newer version waits for the settling of the claimed one", testClaimNewerWaits},
	{"an overtaken document is debounced", testClaimDebounced},
	{"a document that changes all the time is deferred until its time", testClaimDebouncedAtMost},
	{"the end of a debounce is signalled", testClaimDebounceSignal},
	{"a debounce that ended before the claim is signalled at once", testClaimDebounceOver},
	{"a debounce does not hasten a retry", testClaimDebounceRetry},
	{"claims end with the process", testClaimRestart},
	{"settling a document ends its deferral", testDeferralEndsWithTheChange},
	{"a retry is given out at its time", testClaimRetry},
	{"a retry is signalled when it is due", testClaimRetrySignal},
	{"each of several retries is signalled", testClaimRetrySignals},
	{"Changed signals everything that may be claimable", testChanged},
	{"unknown kinds and ended contexts are errors", testClaimErrors},
}

func testClaimOrder(t *testing.T, h *harness) {
	for i := range 5 {
		h.append(t, advisory(fmt.Sprint(i), "a"))
		h.clock.move(time.Second)
	}
	h.append(t, advisory("2", "b")) // waits since its first version
	if got, want := ids(h.claim(t, report.Advisories)), []string{"0", "1", "2", "3", "4"}; !slices.Equal(got, want) {
		t.Errorf("claimed %v, want %v", got, want)
	}
}

func testClaimLimits(t *testing.T, h *harness) {
	for i := range 6 {
		h.append(t, advisory(fmt.Sprint(i), "0123456789"))
	}
	for _, c := range []struct{ changes, bytes, want int }{{0, 100, 0}, {1, 100, 1}, {10, 25, 2}, {10, 1, 1}, {10, 0, 1}, {10, 100, 1}} {
		if got := h.claimUpTo(t, report.Advisories, c.changes, c.bytes); len(got) != c.want {
			t.Errorf("%d changes of %d bytes: %v, want %d", c.changes, c.bytes, ids(got), c.want)
		}
	}
	h.claimNone(t, report.Advisories)
}

func testClaimExclusive(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	c := h.claimOne(t, report.Advisories)
	h.claimNone(t, report.Advisories)
	h.settle(t, c, report.Retry)
	h.claimOne(t, report.Advisories)
}

func testClaimNewerWaits(t *testing.T, h *harness) {
	for _, o := range append(report.Outcomes(), report.Retry) {
		h.append(t, advisory("1", "old "+string(o)))
		old := h.claimOne(t, report.Advisories)
		h.append(t, advisory("1", "new "+string(o)))
		h.claimNone(t, report.Advisories)
		before := describe(h.stats(t, report.Advisories))
		h.settle(t, old, o)
		h.expect(t, report.Advisories, before)
		c := h.claimOne(t, report.Advisories)
		if string(c.Body) != "new "+string(o) {
			t.Errorf("%s: claimed %s, want the newest", o, c.Body)
		}
		h.settle(t, c, report.Indexed)
	}
}

func testClaimRestart(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"), advisory("2", "b"))
	a := h.claimUpTo(t, report.Advisories, 1, 100)[0]
	b := h.claimOne(t, report.Advisories)
	h.settleWith(t, report.Settlement{Key: b.Key, Version: b.Version, Outcome: report.Retry, NotBefore: h.clock.now().Add(time.Hour)})
	h.reopen(t)
	if got := h.claim(t, report.Advisories); len(got) != 2 || got[0].Version != a.Version {
		t.Errorf("claimed %v, want both", ids(got))
	}
}

func testClaimRetry(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	c := h.claimOne(t, report.Advisories)
	h.settleWith(t, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Retry, NotBefore: h.clock.now().Add(time.Minute)})
	h.clock.move(time.Minute - 1)
	h.claimNone(t, report.Advisories)
	h.append(t, advisory("1", "b")) // the document waits, not the version
	h.claimNone(t, report.Advisories)
	h.clock.move(1)
	if c := h.claimOne(t, report.Advisories); string(c.Body) != "b" {
		t.Errorf("claimed %s, want the newest version", c.Body)
	}
}

func testClaimRetrySignal(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	c := h.claimOne(t, report.Advisories)
	h.drain()
	h.settleWith(t, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Retry, NotBefore: h.clock.now().Add(10 * time.Millisecond)})
	h.clock.move(time.Second)
	if !h.notified() {
		t.Error("no signal after the time of the retry")
	}
	h.claimOne(t, report.Advisories)
}

// testClaimRetrySignals defers documents, the one that is due last first.
func testClaimRetrySignals(t *testing.T, h *harness) {
	h.append(t, advisory("3", "a"), advisory("2", "a"), advisory("1", "a"))
	for _, c := range h.claim(t, report.Advisories) {
		due := h.start.Add(map[report.ID]time.Duration{"1": 10 * time.Millisecond, "2": 20 * time.Millisecond, "3": time.Hour}[c.ID])
		h.settleWith(t, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Retry, NotBefore: due})
	}
	for _, id := range []report.ID{"1", "2"} {
		h.claimNone(t, report.Advisories)
		h.drain()
		h.clock.move(10 * time.Millisecond)
		if !h.notified() {
			t.Fatalf("no signal when %s was due", id)
		}
		if c := h.claimOne(t, report.Advisories); c.ID != id {
			t.Errorf("claimed %s, want %s", c.ID, id)
		}
	}
}

func testChanged(t *testing.T, h *harness) {
	for range 3 {
		h.append(t, advisory("1", "a"))
	}
	if !h.notified() {
		t.Error("no signal after Append")
	}
	c := h.claimOne(t, report.Advisories)
	h.append(t, advisory("1", "b"))
	h.drain()
	h.settle(t, c, report.Indexed)
	if !h.notified() {
		t.Error("no signal when a claim ended and a newer version waited")
	}
	c = h.claimOne(t, report.Advisories)
	h.drain()
	h.settle(t, c, report.Retry)
	if !h.notified() {
		t.Error("no signal after a retry at once")
	}
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	h.drain()
	h.resend(t, report.Advisories, 1)
	if !h.notified() {
		t.Error("no signal after Resend")
	}
}

func testClaimErrors(t *testing.T, h *harness) {
	if _, err := h.Claim(context.Background(), "countries", 1, 1); err == nil {
		t.Error("Claim took an unknown kind")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := h.Claim(ctx, report.Cities, 1, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Claim with an ended context: %v", err)
	}
	if _, err := h.Append(ctx, report.Delivery{Changes: []report.Change{advisory("1", "a")}}); !errors.Is(err, context.Canceled) {
		t.Errorf("Append with an ended context: %v", err)
	}
	if err := h.Settle(context.Background(), []report.Settlement{{Key: report.Key{Kind: report.Cities, ID: "1"}, Version: 1, Outcome: "lost"}}); err == nil {
		t.Error("Settle took an unknown outcome")
	}
}

// testDeferralEndsWithTheChange defers a document and settles it. If it is pending again
// later, in this process or the next, it is not deferred.
func testDeferralEndsWithTheChange(t *testing.T, h *harness) {
	h.append(t, city("1", "", "{}"))
	for _, again := range []func(report.Change){
		func(report.Change) { h.append(t, city("1", "", "{}")) },
		func(c report.Change) { h.reissue(t, 1, report.Stamp{Key: c.Key, Version: c.Version}) },
		func(c report.Change) { h.resend(t, c.Kind, 1) },
		func(c report.Change) { h.reopen(t); h.resend(t, c.Kind, 1) },
	} {
		c := h.claimOne(t, report.Cities)
		h.settleWith(t, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Retry, NotBefore: h.clock.now().Add(time.Hour)})
		h.settle(t, c, report.Indexed)
		again(c)
	}
	h.claimOne(t, report.Cities)
}
