package conformance

import (
	"strings"
	"testing"
	"time"

	"riskdex/report"
)

var traceTests = []test{
	{"a change is given out with its trace, also after a restart", testTraceRestart},
	{"a newer version has its own trace, or none", testTraceOvertaken},
	{"a trace ends with its version", testTraceEnds},
	{"a retry keeps the trace", testTraceRetry},
	{"a trace belongs to the document that the change was for", testTraceCode},
	{"an invalid traceparent is not kept", testTraceTooLong},
}

const (
	traceA = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	traceB = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
)

func traced(c report.Change, trace string) report.Change {
	c.Trace = trace
	return c
}

// claimTrace claims the only change, and expects it to have a trace.
func (h *harness) claimTrace(t tester, kind report.Kind, want string) report.Change {
	t.Helper()
	c := h.claimOne(t, kind)
	if c.Trace != want {
		t.Errorf("%s %q has the trace %q, want %q", kind, c.ID, c.Trace, want)
	}
	return c
}

func testTraceRestart(t *testing.T, h *harness) {
	h.append(t, traced(city("1", "LON", "{}"), traceA), city("2", "", "{}"), city("3", "", "{}"), traced(remove(report.Cities, "3"), traceB))
	want := map[report.ID]string{"1": traceA, "2": "", "3": traceB}
	for range 2 {
		for _, c := range h.claim(t, report.Cities) {
			if c.Trace != want[c.ID] {
				t.Errorf("%q has the trace %q, want %q", c.ID, c.Trace, want[c.ID])
			}
		}
		h.reopen(t)
	}
	h.settleAll(t, h.claim(t, report.Cities), report.Indexed)
	h.reopen(t)
	h.resend(t, report.Cities, 3)
	for _, c := range h.claim(t, report.Cities) {
		if c.Trace != "" {
			t.Errorf("%q has the trace %q after it was settled", c.ID, c.Trace)
		}
	}
}

func testTraceOvertaken(t *testing.T, h *harness) {
	h.append(t, traced(advisory("1", "a"), traceA))
	old := h.claimTrace(t, report.Advisories, traceA)
	h.append(t, traced(advisory("1", "b"), traceB))
	h.settle(t, old, report.Indexed)
	newer := h.claimTrace(t, report.Advisories, traceB)
	h.append(t, advisory("1", "c"))
	h.settle(t, newer, report.Retry)
	last := h.claimTrace(t, report.Advisories, "")
	h.append(t, traced(advisory("1", "d"), traceA))
	h.settle(t, last, report.Indexed)
	h.claimTrace(t, report.Advisories, traceA)
}

func testTraceEnds(t *testing.T, h *harness) {
	for _, o := range report.Outcomes() {
		stamp := h.append(t, traced(advisory(string(o), "{}"), traceA))[0]
		h.settle(t, h.claimTrace(t, report.Advisories, traceA), o)
		if o == report.Dead {
			if n, err := h.RetryDead(t.Context(), []report.Stamp{stamp}); n != 1 || err != nil {
				t.Fatalf("RetryDead = %d, %v", n, err)
			}
		} else {
			h.reissue(t, 1, stamp)
		}
		h.settle(t, h.claimTrace(t, report.Advisories, ""), report.Indexed)
	}
}

func testTraceRetry(t *testing.T, h *harness) {
	h.append(t, traced(advisory("1", "{}"), traceA))
	c := h.claimTrace(t, report.Advisories, traceA)
	h.settleWith(t, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Retry, NotBefore: h.clock.now().Add(time.Minute)})
	h.clock.move(time.Hour)
	h.claimTrace(t, report.Advisories, traceA)
}

func testTraceCode(t *testing.T, h *harness) {
	h.append(t, city("130", "LON", "{}"))
	h.settle(t, h.claimTrace(t, report.Cities, ""), report.Indexed)
	h.append(t, traced(city("LON", "", "{}"), traceA))
	if c := h.claimTrace(t, report.Cities, traceA); c.ID != "130" {
		t.Errorf("the change is for %q", c.ID)
	}
}

func testTraceTooLong(t *testing.T, h *harness) {
	d := report.Delivery{Changes: []report.Change{traced(advisory("1", "{}"), strings.Repeat("x", 1000))}}
	if _, err := h.Append(t.Context(), d); err == nil || !strings.Contains(err.Error(), "traceparent") {
		t.Errorf("Append: %v", err)
	}
	h.claimNone(t, report.Advisories)
}
