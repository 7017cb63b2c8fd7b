package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"riskdex/report"
)

var letterEndTests = []test{
	{"a retry is a new change with the same content", testRetryDead},
	{"a retry does not overtake what is newer", testRetryDeadOvertaken},
	{"a deletion can be retried", testRetryDeadDelete},
	{"thousands at once", testRetryDeadMany},
	{"an edited body takes the place of a dead one", testReplaceDead},
	{"an edited body may bring another code", testReplaceDeadCode},
	{"an edited body does not overtake what is newer", testReplaceDeadOvertaken},
	{"an edited body does not overtake what was refused since", testReplaceDeadOrder},
	{"an edited body must be valid and for that document", testReplaceDeadInvalid},
}

func (h *harness) retryDead(t tester, want int, letters ...report.Stamp) {
	t.Helper()
	n, err := h.RetryDead(context.Background(), letters)
	if err != nil || n != want {
		t.Fatalf("RetryDead = %d, %v, want %d", n, err, want)
	}
}

func testRetryDead(t *testing.T, h *harness) {
	s := h.kill(t, city("1", "LON", "{}"))
	h.clock.move(time.Minute)
	h.drain()
	h.retryDead(t, 1, s)
	if !h.notified() {
		t.Error("no signal after RetryDead")
	}
	h.expect(t, report.Cities, "index=2 dead=1 pending=1")
	if got := h.stats(t, report.Cities).OldestWaiting; !got.Equal(h.clock.now()) {
		t.Errorf("the retry waits since %v", got)
	}
	h.noLetter(t, s.Key)
	h.reopen(t)
	c := h.claimOne(t, report.Cities)
	if c.Version <= s.Version || c.Resent || c.Code != "LON" || string(c.Body) != "{}" || !c.AcceptedAt.Equal(h.clock.now()) {
		t.Errorf("it came back as %+v", c)
	}
	h.retryDead(t, 0, s, report.Stamp{Key: c.Key, Version: c.Version})
	h.settle(t, c, report.Dead)
	h.retryDead(t, 0, s)
	h.retryDead(t, 1, report.Stamp{Key: c.Key, Version: c.Version})
	h.settle(t, h.claimOne(t, report.Cities), report.Indexed)
	h.expect(t, report.Cities, "index=3 indexed=1 dead=2")
}

func testRetryDeadOvertaken(t *testing.T, h *harness) {
	s := h.kill(t, advisory("1", "old"))
	h.append(t, advisory("1", "new"))
	h.retryDead(t, 0, s)
	h.expect(t, report.Advisories, "index=2 dead=1 pending=1")
	c := h.claimOne(t, report.Advisories)
	if string(c.Body) != "new" {
		t.Errorf("claimed %s, want the newer version", c.Body)
	}
	h.settle(t, c, report.Indexed)
	h.retryDead(t, 0, s)
	h.claimNone(t, report.Advisories)
	if _, err := h.RetryDead(t.Context(), []report.Stamp{{Key: report.Key{Kind: "countries", ID: "1"}, Version: 1}}); err == nil {
		t.Error("an unknown kind was taken")
	}
}

func testRetryDeadDelete(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	s := h.kill(t, remove(report.Advisories, "1"))
	if l, err := h.DeadLetter(t.Context(), s.Key); err != nil || l.Op != report.Delete || l.Body != nil || l.Bytes != 0 {
		t.Errorf("the dead letter is %+v, %v; want a delete without a body", l, err)
	}
	h.retryDead(t, 1, s)
	h.expect(t, report.Advisories, "index=1 delete=2 superseded=1 dead=1 pending=1")
	if c := h.claimOne(t, report.Advisories); c.Op != report.Delete {
		t.Errorf("claimed %+v, want the delete", c)
	}
}

func testRetryDeadMany(t *testing.T, h *harness) {
	var changes []report.Change
	for i := range 1700 {
		changes = append(changes, advisory(number(i), number(i)))
	}
	stamps := h.append(t, changes...)
	for got := h.claim(t, report.Advisories); len(got) > 0; got = h.claim(t, report.Advisories) {
		h.settleAll(t, got, report.Dead)
	}
	h.append(t, advisory(number(3), "newer"))
	h.retryDead(t, 1000, stamps[600:1600]...)
	h.retryDead(t, 699, stamps...)
	h.expect(t, report.Advisories, "index=3400 dead=1700 pending=1700")
	for got := h.claim(t, report.Advisories); len(got) > 0; got = h.claim(t, report.Advisories) {
		for _, c := range got {
			if string(c.Body) != string(c.ID) && string(c.Body) != "newer" {
				t.Fatalf("%s came back as %s", c.ID, c.Body)
			}
		}
	}
}

func testReplaceDead(t *testing.T, h *harness) {
	s := h.kill(t, city("1", "LON", "bad"))
	h.drain()
	got, err := h.ReplaceDead(t.Context(), s, city("1", "", "edited"))
	if err != nil || got.Key != s.Key || got.Version <= s.Version {
		t.Fatalf("stamped %+v, %v", got, err)
	}
	if !h.notified() {
		t.Error("no signal after ReplaceDead")
	}
	h.expect(t, report.Cities, "index=2 dead=1 pending=1")
	h.noLetter(t, s.Key)
	c := h.claimOne(t, report.Cities)
	if c.Version != got.Version || c.Code != "LON" || string(c.Body) != "edited" {
		t.Errorf("it came back as %+v", c)
	}
}

func testReplaceDeadCode(t *testing.T, h *harness) {
	s := h.kill(t, city("1", "LON", "bad"))
	if _, err := h.ReplaceDead(t.Context(), s, city("1", "LHR", "edited")); err != nil {
		t.Fatal(err)
	}
	if got := h.append(t, remove(report.Cities, "LHR"))[0]; got.ID != "1" {
		t.Errorf("LHR is for %q, want 1", got.ID)
	}
}

func testReplaceDeadOvertaken(t *testing.T, h *harness) {
	s := h.kill(t, advisory("1", "bad"))
	replace := func(why string, s report.Stamp) {
		t.Helper()
		if got, err := h.ReplaceDead(t.Context(), s, advisory("1", "edited")); !errors.Is(err, report.ErrNotFound) {
			t.Errorf("%s: %+v, %v, want ErrNotFound", why, got, err)
		}
	}
	replace("another version", report.Stamp{Key: s.Key, Version: s.Version - 1})
	h.append(t, advisory("1", "newer"))
	replace("a newer delivery", s)
	c := h.claimOne(t, report.Advisories)
	if string(c.Body) != "newer" {
		t.Errorf("claimed %s, want the newer version", c.Body)
	}
	h.settle(t, c, report.Indexed)
	replace("it is settled", report.Stamp{Key: c.Key, Version: c.Version})
	h.expect(t, report.Advisories, "index=2 indexed=1 dead=1")
	if err := h.Ready(); err != nil {
		t.Errorf("Ready: %v", err)
	}
}

func testReplaceDeadOrder(t *testing.T, h *harness) {
	s := h.kill(t, advisory("1", "first"))
	seq := h.refuse(t, refusal(report.Advisories, "", "second"))
	if _, err := h.ReplaceDead(t.Context(), s, advisory("1", "first, edited")); err != nil {
		t.Fatal(err)
	}
	if got := h.retry(t, seq, advisory("1", "second, edited"))[0]; got.Version == 0 {
		t.Error("the correction of the newer delivery was left out")
	}
	h.newest(t, report.Advisories, "1", "second, edited")
}

func testReplaceDeadInvalid(t *testing.T, h *harness) {
	s := h.kill(t, advisory("1", "bad"))
	for why, c := range map[string]report.Change{
		"no body": advisory("1", ""), "another document": advisory("2", "a"), "another kind": city("1", "", "a"),
	} {
		if got, err := h.ReplaceDead(t.Context(), s, c); err == nil || errors.Is(err, report.ErrNotFound) {
			t.Errorf("%s: ReplaceDead = %+v, %v; want an error other than ErrNotFound", why, got, err)
		}
	}
	h.expect(t, report.Advisories, "index=1 dead=1 letters=1")
}
