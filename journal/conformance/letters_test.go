package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"riskdex/report"
)

var letterTests = []test{
	{"a dead letter keeps body, reason, error type and times", testLetterKept},
	{"lists have all dead letters of a kind, page after page, without bodies", testLetterPages},
	{"only dead letters are found", testLetterNotFound},
	{"a newer delivery clears it", testLetterCleared},
	{"a document that is dead when sent again is a dead letter", testLetterOfResend},
	{"a dropped dead letter is gone, its version is not", testLetterDropped},
	{"a dropped city still answers to its code", testLetterDroppedCity},
	{"a newer delivery replaces a dropped one", testLetterDroppedReplaced},
}

// kill makes the newest version of a document a dead letter.
func (h *harness) kill(t tester, c report.Change) report.Stamp {
	t.Helper()
	s := h.append(t, c)[0]
	h.settle(t, h.claimOneOf(t, c.Kind, s.ID), report.Dead)
	return s
}

func (h *harness) letters(t tester, kind report.Kind, after report.ID, limit int) []report.DeadLetter {
	t.Helper()
	list, err := h.DeadLetters(context.Background(), kind, after, limit)
	if err != nil {
		t.Fatalf("DeadLetters: %v", err)
	}
	return list
}

func (h *harness) noLetter(t tester, k report.Key) {
	t.Helper()
	if l, err := h.DeadLetter(context.Background(), k); !errors.Is(err, report.ErrNotFound) {
		t.Errorf("DeadLetter(%v) = %+v, %v, want ErrNotFound", k, l, err)
	}
	for _, l := range h.letters(t, k.Kind, "", 1000) {
		if l.Key == k {
			t.Errorf("%v is listed", k)
		}
	}
}

func (h *harness) dropDead(t tester, want int, letters ...report.Stamp) {
	t.Helper()
	n, err := h.DropDead(context.Background(), letters)
	if err != nil || n != want {
		t.Fatalf("DropDead = %d, %v, want %d", n, err, want)
	}
}

func testLetterKept(t *testing.T, h *harness) {
	s := h.append(t, city("1", "LON", `{"id":1}`))[0]
	c := h.claimOne(t, report.Cities)
	h.clock.move(time.Minute)
	h.settleWith(t, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Dead, ErrorType: "mapper_parsing_exception", Reason: "failed to parse"})
	h.reopen(t)
	l, err := h.DeadLetter(t.Context(), s.Key)
	if err != nil {
		t.Fatal(err)
	}
	if l.Key != s.Key || l.Version != s.Version || l.Op != report.Index || l.Code != "LON" || string(l.Body) != `{"id":1}` || l.Bytes != 8 {
		t.Errorf("the change came back as %+v", l)
	}
	if !l.AcceptedAt.Equal(h.start) || !l.DeadAt.Equal(h.start.Add(time.Minute)) {
		t.Errorf("accepted at %v, dead since %v", l.AcceptedAt, l.DeadAt)
	}
	if l.ErrorType != "mapper_parsing_exception" || l.Reason != "failed to parse" {
		t.Errorf("the dead letter has the reason %q and the error type %q", l.ErrorType, l.Reason)
	}
	list := h.letters(t, report.Cities, "", 10)
	if len(list) != 1 || list[0].Body != nil {
		t.Fatalf("listed %+v", list)
	}
	l.Body = nil
	if got := list[0]; got.Key != l.Key || got.Version != l.Version || got.Bytes != l.Bytes || got.Reason != l.Reason || !got.DeadAt.Equal(l.DeadAt) || got.Code != l.Code {
		t.Errorf("listed\n%+v\nwant\n%+v", got, l)
	}
}

func testLetterPages(t *testing.T, h *harness) {
	want := []report.ID{"10", "9", "A", "a", "a\x00", "é"}
	for i := range want {
		h.kill(t, advisory(string(want[(i*5)%len(want)]), "a"))
	}
	h.append(t, advisory("alive", "a"))
	h.kill(t, city("other", "", "a"))
	checkPages(t, want, func(after report.ID, limit int) (ids []report.ID) {
		for _, l := range h.letters(t, report.Advisories, after, limit) {
			ids = append(ids, l.ID)
		}
		return ids
	})
	if _, err := h.DeadLetters(t.Context(), "countries", "", 1); err == nil {
		t.Error("DeadLetters took an unknown kind")
	}
}

func testLetterNotFound(t *testing.T, h *harness) {
	stamps := h.append(t, advisory("pending", "a"), advisory("settled", "a"))
	h.settle(t, h.claimOneOf(t, report.Advisories, "settled"), report.Indexed)
	h.noLetter(t, stamps[0].Key)
	h.noLetter(t, stamps[1].Key)
	h.noLetter(t, report.Key{Kind: report.Advisories, ID: "unknown"})
	if _, err := h.DeadLetter(t.Context(), report.Key{Kind: "countries", ID: "1"}); err == nil || errors.Is(err, report.ErrNotFound) {
		t.Errorf("a dead letter of an unknown kind: %v, want an error other than ErrNotFound", err)
	}
}

func testLetterCleared(t *testing.T, h *harness) {
	for _, newer := range []report.Change{advisory("1", "good"), remove(report.Advisories, "1")} {
		s := h.kill(t, advisory("1", "bad"))
		h.append(t, newer)
		h.noLetter(t, s.Key)
		h.retryDead(t, 0, s)
		h.dropDead(t, 0, s)
		if c := h.claimOne(t, report.Advisories); c.Op != newer.Op {
			t.Errorf("claimed %+v, want the newer one", c)
		} else {
			h.settle(t, c, report.Indexed)
		}
	}
}

func testLetterOfResend(t *testing.T, h *harness) {
	h.append(t, advisory("1", "a"))
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	h.resend(t, report.Advisories, 1)
	c := h.claimOne(t, report.Advisories)
	h.settle(t, c, report.Dead)
	if l, err := h.DeadLetter(t.Context(), c.Key); err != nil || string(l.Body) != "a" {
		t.Errorf("the dead letter is %+v, %v; want the body a", l, err)
	}
	h.retryDead(t, 1, report.Stamp{Key: c.Key, Version: c.Version})
	h.expect(t, report.Advisories, "index=2 indexed=1 pending=1")
}

func testLetterDropped(t *testing.T, h *harness) {
	s := h.kill(t, advisory("1", "bad"))
	other := h.kill(t, advisory("2", "bad"))
	h.dropDead(t, 0, report.Stamp{Key: s.Key, Version: s.Version - 1}, report.Stamp{Key: s.Key, Version: s.Version + 1})
	h.dropDead(t, 1, s)
	h.dropDead(t, 0, s)
	h.noLetter(t, s.Key)
	h.retryDead(t, 0, s)
	h.resend(t, report.Advisories, 0)
	h.reissue(t, 0, s)
	h.claimNone(t, report.Advisories)
	h.reopen(t)
	h.noLetter(t, s.Key)
	want := report.Entry{Stamp: s, Op: report.Index, State: report.StateDropped}
	if got := h.lookup(t, report.Advisories, "1"); len(got) != 1 || got[0] != want {
		t.Errorf("looked up %+v, want %+v", got, want)
	}
	h.expect(t, report.Advisories, "index=2 dead=2 letters=1")
	if l, err := h.DeadLetter(t.Context(), other.Key); err != nil || string(l.Body) != "bad" {
		t.Errorf("the dead letter that was not dropped: %+v, %v", l, err)
	}
}

func testLetterDroppedCity(t *testing.T, h *harness) {
	h.dropDead(t, 1, h.kill(t, city("1", "LON", "bad")))
	if got := h.append(t, city("LON", "", "good"))[0]; got.ID != "1" {
		t.Errorf("LON is for %q, want 1", got.ID)
	}
	if c := h.claimOne(t, report.Cities); c.Code != "LON" || string(c.Body) != "good" {
		t.Errorf("claimed %+v, want the city with the code", c)
	}
}

func testLetterDroppedReplaced(t *testing.T, h *harness) {
	h.dropDead(t, 1, h.kill(t, advisory("1", "bad")))
	h.append(t, advisory("1", "good"))
	h.expect(t, report.Advisories, "index=2 dead=1 pending=1")
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	h.resend(t, report.Advisories, 1)
	if c := h.claimOne(t, report.Advisories); string(c.Body) != "good" {
		t.Errorf("claimed %+v, want the newer delivery", c)
	}
}
