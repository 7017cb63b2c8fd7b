package conformance

import (
	"context"
	"testing"
	"time"

	"riskdex/report"
)

// testClaimAfterNone makes a document pending in every possible way, each time right
// after two Claims have found nothing.
func testClaimAfterNone(t *testing.T, h *harness) {
	ctx := context.Background()
	wait := func(how string, f func() error) report.Change {
		t.Helper()
		for range 2 {
			h.claimNone(t, report.Advisories)
			h.claimNone(t, report.Cities)
		}
		if err := f(); err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		if got := h.claimUpTo(t, report.Advisories, 0, 1<<20); len(got) != 0 {
			t.Errorf("a Claim of at most 0 gave out %d", len(got))
		}
		got := h.claim(t, report.Advisories)
		if len(got) != 1 {
			t.Fatalf("after %s, %d are claimable, want 1", how, len(got))
		}
		return got[0]
	}
	var c report.Change
	stamp := func() []report.Stamp { return []report.Stamp{{Key: c.Key, Version: c.Version}} }
	settle := func(s report.Settlement) func() error {
		return func() error {
			s.Key, s.Version = c.Key, c.Version
			return h.Settle(ctx, []report.Settlement{s})
		}
	}
	again := func(f func() (int, error)) func() error {
		return func() error { _, err := f(); return err }
	}
	deliver := func() error {
		_, err := h.Append(ctx, report.Delivery{Changes: []report.Change{advisory("1", "a")}})
		return err
	}

	c = wait("a delivery", deliver)
	c = wait("a retry", settle(report.Settlement{Outcome: report.Retry}))
	c = wait("a retry that was deferred", func() error {
		err := settle(report.Settlement{Outcome: report.Retry, NotBefore: h.clock.now().Add(time.Hour)})()
		for range 2 {
			h.claimNone(t, report.Advisories)
		}
		h.clock.move(time.Hour)
		return err
	})
	old := c
	if err := deliver(); err != nil {
		t.Fatal(err)
	}
	c = wait("the end of the write before", func() error { h.settle(t, old, report.Superseded); return nil })
	h.settle(t, c, report.Dead)
	c = wait("a retry of a dead letter", again(func() (int, error) { return h.RetryDead(ctx, stamp()) }))
	h.settle(t, c, report.Indexed)
	c = wait("Resend", again(func() (int, error) { return report.ResendAll(ctx, h, report.Advisories) }))
	h.settle(t, c, report.Indexed)
	c = wait("Reissue", again(func() (int, error) { return h.Reissue(ctx, stamp()) }))
	h.settle(t, c, report.Indexed)
	h.append(t, remove(report.Advisories, "1"))
	h.settle(t, h.claimOne(t, report.Advisories), report.Deleted)
	wait("ResendDeleted", again(func() (int, error) { return h.ResendDeleted(ctx, report.Advisories, h.start) }))
	h.reopen(t)
	h.claimOne(t, report.Advisories)
}
