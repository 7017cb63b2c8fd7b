package conformance

import (
	"context"
	"errors"
	"slices"
	"testing"

	"riskdex/journal"
	"riskdex/report"
)

var lifecycleTests = []test{
	{"a new journal is empty and ready", testEmpty},
	{"everything is an error once closed", testClosed},
	{"a journal keeps its lineage", testLineage},
	{"only one process at a time verifies a kind", testLockVerify},
}

func testEmpty(t *testing.T, h *harness) {
	if err := h.Ready(); err != nil {
		t.Error(err)
	}
	s, err := h.Stats(t.Context())
	if !s.Now.Equal(h.clock.now()) {
		t.Errorf("it is %v, and Stats says %v", h.clock.now(), s.Now)
	}
	if err != nil || len(s.Kinds) != len(report.AllKinds()) || s.Bytes <= 0 {
		t.Errorf("Stats = %+v, %v", s, err)
	}
	if !slices.Equal(s.Processes, []string{journal.ProcessName()}) {
		t.Errorf("the processes are %q, this one is %q", s.Processes, journal.ProcessName())
	}
	for _, k := range report.AllKinds() {
		if s := s.Kinds[k]; len(s.Accepted) != len(report.Ops()) || len(s.Settled) != len(report.Outcomes()) {
			t.Errorf("%s lacks labels: %+v", k, s)
		}
		h.expect(t, k, "")
	}
	if stamps, err := h.Append(t.Context(), report.Delivery{}); err != nil || len(stamps) != 0 {
		t.Errorf("an empty delivery: %v, %v", stamps, err)
	}
}

func testLineage(t *testing.T, h *harness) {
	line := h.Lineage()
	if len(line) < 26 { // 128 bits in base 32
		t.Errorf("the line is %q, want 128 bits in base 32", line)
	}
	h.reopen(t)
	if h.Lineage() != line {
		t.Errorf("the line is %s after a restart, and was %s", h.Lineage(), line)
	}
	other := h.other(t)
	if other.Lineage() == line {
		t.Errorf("another journal has the same line, %s", line)
	}
}

func testLockVerify(t *testing.T, h *harness) {
	lock := func(k report.Kind) func() {
		t.Helper()
		done, err := h.LockVerify(t.Context(), k)
		if err != nil {
			t.Fatalf("%s: %v", k, err)
		}
		return done
	}
	done := lock(report.Cities)
	if _, err := h.LockVerify(t.Context(), report.Cities); !errors.Is(err, report.ErrVerifying) {
		t.Errorf("a second lock returned %v, want ErrVerifying", err)
	}
	lock(report.Advisories)()
	done()
	done() // is harmless
	again := lock(report.Cities)
	done()
	if _, err := h.LockVerify(t.Context(), report.Cities); !errors.Is(err, report.ErrVerifying) {
		t.Errorf("a lock returned %v after the first was released twice, want ErrVerifying", err)
	}
	again()
}

func testClosed(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
	ctx := context.Background()
	c := advisory("1", "a")
	stamp := report.Stamp{Key: c.Key, Version: 1}
	for name, call := range map[string]func() error{
		"Append": func() error {
			_, err := h.Append(ctx, report.Delivery{Changes: []report.Change{c}})
			return err
		},
		"Claim":        func() error { _, err := h.Claim(ctx, report.Advisories, 1, 1); return err },
		"Settle":       func() error { return h.Settle(ctx, nil) },
		"Resend":       func() error { _, err := report.ResendAll(ctx, h, report.Advisories); return err },
		"Reissue":      func() error { _, err := h.Reissue(ctx, []report.Stamp{stamp}); return err },
		"Note":         func() error { return h.Note(ctx, "a", "b") },
		"Documents":    func() error { _, err := h.Documents(ctx, report.Advisories); return err },
		"Entries":      func() error { _, err := h.Entries(ctx, report.Advisories, "", 1); return err },
		"Lookup":       func() error { _, err := h.Lookup(ctx, report.Advisories, []report.ID{"1"}); return err },
		"DeadLetters":  func() error { _, err := h.DeadLetters(ctx, report.Advisories, "", 1); return err },
		"DeadLetter":   func() error { _, err := h.DeadLetter(ctx, c.Key); return err },
		"RetryDead":    func() error { _, err := h.RetryDead(ctx, []report.Stamp{stamp}); return err },
		"ReplaceDead":  func() error { _, err := h.ReplaceDead(ctx, stamp, c); return err },
		"DropDead":     func() error { _, err := h.DropDead(ctx, []report.Stamp{stamp}); return err },
		"Stats":        func() error { _, err := h.Stats(ctx); return err },
		"Refusals":     func() error { _, err := h.Refusals(ctx, 0, 1); return err },
		"Refusal":      func() error { _, err := h.Refusal(ctx, 1); return err },
		"DropRefusals": func() error { _, err := h.DropRefusals(ctx, []int64{1}); return err },
		"LockKind":     func() error { return h.LockKind(ctx, report.Cities) },
		"LockVerify":   func() error { _, err := h.LockVerify(ctx, report.Cities); return err },
		"Ready":        h.Ready,
	} {
		if err := call(); !errors.Is(err, journal.ErrClosed) {
			t.Errorf("%s after Close: %v, want ErrClosed", name, err)
		}
	}
	h.reopen(t)
	h.expect(t, report.Advisories, "index=1 pending=1")
}
