package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"riskdex/report"
)

var retryTests = []test{
	{"an accepted retry ends its refusal", testRetryRefused},
	{"a retry does not overtake what was accepted since", testRetryRefusedOvertaken},
	{"a retry that is left out ends its refusal as well", testRetryRefusedAllLeftOut},
	{"a refusal that is gone cannot be retried", testRetryRefusedGone},
	{"a document that was only sent again is not newer", testRetryRefusedAfterResend},
	{"two refusals of a document are retried in any order", testRetryRefusedTwo},
	{"two refused deliveries with the same document", testRetryRefusedNoID},
	{"the order of the records of one delivery counts", testRetryRefusedSameDelivery},
	{"a refusal of a retry keeps its place", testRetryRefusedAgain},
	{"a city is found by its code", testRetryRefusedCity},
	{"a retry brings back no city that was deleted by its code since", testRetryRefusedDeletedByCode},
	{"a retry by a code that its city has given up since is left out", testRetryRefusedCodeGivenUp},
	{"a code has no case in these rules", testRetryRefusedCodeInAnyCase},
	{"a retry that fails leaves the refusal", testRetryRefusedInvalid},
}

func (h *harness) retry(t tester, seq int64, changes ...report.Change) []report.Stamp {
	t.Helper()
	stamps, err := h.Append(context.Background(), report.Delivery{RetryOf: seq, Changes: changes})
	if err != nil || len(stamps) != len(changes) {
		t.Fatalf("Append of %d changes as a retry of %d: %+v, %v", len(changes), seq, stamps, err)
	}
	return stamps
}

// newest claims the newest version of a document, checks it, and settles it.
func (h *harness) newest(t tester, kind report.Kind, id report.ID, body string) {
	t.Helper()
	c := h.claimOneOf(t, kind, id)
	if string(c.Body) != body {
		t.Errorf("the newest of %s is %q, want %q", id, c.Body, body)
	}
	h.settle(t, c, report.Indexed)
}

func testRetryRefused(t *testing.T, h *harness) {
	before := h.append(t, advisory("1", "old"), advisory("3", "old"))[0]
	seq := h.refuse(t, refusal(report.Advisories, "1", "bad"))
	h.append(t, advisory("2", "other"))
	stamps := h.retry(t, seq, advisory("1", "edited"))
	if stamps[0].Version <= before.Version {
		t.Errorf("stamped %+v after %+v", stamps[0], before)
	}
	h.kept(t)
	h.reopen(t)
	h.kept(t)
	h.newest(t, report.Advisories, "1", "edited")
	h.expect(t, report.Advisories, "index=4 indexed=1 superseded=1 pending=2")
}

func testRetryRefusedOvertaken(t *testing.T, h *harness) {
	seq := h.refuse(t, refusal(report.Advisories, "", "bad"))
	h.append(t, advisory("1", "newer"), advisory("2", "a"), remove(report.Advisories, "2"))
	h.clock.move(-time.Hour)
	stamps := h.retry(t, seq, advisory("1", "a"), advisory("2", "a"), advisory("3", "a"))
	for i, id := range []report.ID{"1", "2", "3"} {
		if s := stamps[i]; s.ID != id || (s.Version != 0) != (id == "3") {
			t.Errorf("change %d was stamped %+v", i, s)
		}
	}
	h.kept(t)
	h.newest(t, report.Advisories, "1", "newer")
	h.newest(t, report.Advisories, "2", "")
	h.newest(t, report.Advisories, "3", "a")
}

func testRetryRefusedAllLeftOut(t *testing.T, h *harness) {
	seq := h.refuse(t, refusal(report.Advisories, "", "bad"))
	h.append(t, advisory("1", "newer"))
	if s := h.retry(t, seq, advisory("1", "a"))[0]; s.Version != 0 {
		t.Errorf("stamped %+v", s)
	}
	h.kept(t)
	h.expect(t, report.Advisories, "index=1 pending=1")
}

func testRetryRefusedGone(t *testing.T, h *harness) {
	seq := h.refuse(t, refusal(report.Advisories, "1", "bad"))
	h.append(t, advisory("1", "newer"))
	for _, seq := range []int64{seq, seq + 1, -1} {
		d := report.Delivery{RetryOf: seq, Changes: []report.Change{advisory("1", "a"), advisory("2", "a")}, Refusals: []report.Refusal{{Reason: "new"}}}
		if stamps, err := h.Append(t.Context(), d); !errors.Is(err, report.ErrNotFound) {
			t.Errorf("a retry of %d: %+v, %v, want ErrNotFound", seq, stamps, err)
		}
	}
	h.kept(t)
	h.expect(t, report.Advisories, "index=1 pending=1")
	if err := h.Ready(); err != nil {
		t.Errorf("Ready: %v", err)
	}
	h.newest(t, report.Advisories, "1", "newer")
}

func testRetryRefusedAfterResend(t *testing.T, h *harness) {
	dead := h.kill(t, advisory("dead", "old"))
	settled := h.append(t, advisory("settled", "old"))[0]
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	seq := h.refuse(t, refusal(report.Advisories, "", "newer than both"))
	h.retryDead(t, 1, dead)
	h.reissue(t, 1, settled)
	for range 2 { // and once more, after it was renewed already
		for _, c := range h.claim(t, report.Advisories) {
			o := map[report.ID]report.Outcome{"dead": report.Dead, "settled": report.Indexed}[c.ID]
			h.settle(t, c, o)
			h.RetryDead(t.Context(), []report.Stamp{{Key: c.Key, Version: c.Version}})
			h.Reissue(t.Context(), []report.Stamp{{Key: c.Key, Version: c.Version}})
		}
	}
	h.reopen(t)
	stamps := h.retry(t, seq, advisory("dead", "newer"), advisory("settled", "newer"))
	if stamps[0].Version == 0 || stamps[1].Version == 0 {
		t.Errorf("a correction was left out: %+v", stamps)
	}
	h.newest(t, report.Advisories, "dead", "newer")
	h.newest(t, report.Advisories, "settled", "newer")
}

func testRetryRefusedTwo(t *testing.T, h *harness) {
	first := h.refuse(t, refusal(report.Advisories, "1", "first"))
	second := h.refuse(t, refusal(report.Advisories, "1", "second"))
	h.retry(t, first, advisory("1", "first"))
	h.kept(t, "second")
	if s := h.retry(t, second, advisory("1", "second"))[0]; s.Version == 0 {
		t.Error("the second was left out after the first was retried")
	}
	h.newest(t, report.Advisories, "1", "second")

	first = h.refuse(t, refusal(report.Advisories, "2", "first"))
	second = h.refuse(t, refusal(report.Advisories, "2", "second"))
	h.retry(t, second, advisory("2", "second"))
	h.kept(t)
	if _, err := h.Append(t.Context(), report.Delivery{RetryOf: first, Changes: []report.Change{advisory("2", "first")}}); !errors.Is(err, report.ErrNotFound) {
		t.Errorf("the first, after the second: %v, want ErrNotFound", err)
	}
	h.newest(t, report.Advisories, "2", "second")
}

func testRetryRefusedNoID(t *testing.T, h *harness) {
	first := h.refuse(t, refusal(report.Advisories, "", "first"))
	second := h.refuse(t, refusal(report.Advisories, "", "second"))
	h.retry(t, second, advisory("1", "second"))
	h.kept(t, "first")
	if s := h.retry(t, first, advisory("1", "first"), advisory("2", "first")); s[0].Version != 0 || s[1].Version == 0 {
		t.Errorf("stamped %+v, want the first to be left out only", s)
	}
	h.newest(t, report.Advisories, "1", "second")
}

func testRetryRefusedSameDelivery(t *testing.T, h *harness) {
	record := func(position int, reason string) report.Refusal {
		return report.Refusal{Kind: report.Advisories, Method: "POST", Position: position, Reason: reason}
	}
	// Records: x accepted, refused, y accepted, refused, refused, z accepted.
	d := report.Delivery{
		Changes:  []report.Change{advisory("x", "0"), advisory("y", "2"), advisory("z", "5")},
		Refusals: []report.Refusal{record(1, "1"), record(3, "3"), record(4, "4")},
	}
	if _, err := h.Append(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	for _, r := range h.refusals(t) { // newest first
		for _, s := range h.retry(t, r.Seq, advisory("x", r.Reason), advisory("y", r.Reason), advisory("z", r.Reason)) {
			before := map[report.ID]string{"x": "4", "y": "4", "z": "none"}[s.ID]
			if taken := s.Version != 0; taken != (r.Reason == before) {
				t.Errorf("record %s as %s: taken %t", r.Reason, s.ID, taken)
			}
		}
	}
	h.newest(t, report.Advisories, "x", "4")
	h.newest(t, report.Advisories, "y", "4")
	h.newest(t, report.Advisories, "z", "5")
}

func testRetryRefusedAgain(t *testing.T, h *harness) {
	seq := h.refuse(t, refusal(report.Advisories, "", "all of it"))
	h.append(t, advisory("1", "newer"))
	d := report.Delivery{RetryOf: seq, Changes: []report.Change{advisory("2", "a")}, Refusals: []report.Refusal{refusal(report.Advisories, "1", "one of it")}}
	if _, err := h.Append(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	h.kept(t, "one of it")
	if s := h.retry(t, h.refusals(t)[0].Seq, advisory("1", "a"))[0]; s.Version != 0 {
		t.Errorf("the retry was stamped %+v, want it left out", s)
	}
	h.newest(t, report.Advisories, "1", "newer")
}

func testRetryRefusedCity(t *testing.T, h *harness) {
	h.append(t, city("1", "LON", "old"))
	seq := h.refuse(t, refusal(report.Cities, "LON", "a"), refusal(report.Cities, "", "b"))
	h.append(t, city("lon", "", "newer"))
	h.kept(t, "b")
	if s := h.retry(t, seq, city("LON", "", "a"))[0]; s.ID != "1" || s.Version != 0 {
		t.Errorf("stamped %+v, want it left out", s)
	}
	h.newest(t, report.Cities, "1", "newer")
}

// testRetryRefusedDeletedByCode: with the refused record, the delete of its code would have been
// for its city.
func testRetryRefusedDeletedByCode(t *testing.T, h *harness) {
	h.append(t, city("LON", "LON", "by code"))
	for _, id := range []string{"130", "131"} { // the second time, the delete finds nothing
		seq := h.refuse(t, refusal(report.Cities, id, "bad"))
		h.append(t, remove(report.Cities, "LON"))
		if s := h.retry(t, seq, byID(city(id, "LON", "older")))[0]; s.Version != 0 {
			t.Errorf("the retry was stamped %+v, want it left out", s)
		}
		h.has(t, map[report.ID]string{})
	}
	seq := h.refuse(t, refusal(report.Cities, "132", "newest"))
	h.retry(t, seq, byID(city("132", "LON", "newest")))
	h.has(t, map[report.ID]string{"132": "newest"})
}

func testRetryRefusedCodeGivenUp(t *testing.T, h *harness) {
	for name, then := range map[string][]report.Change{
		"it has none":         {byID(noCode(city("130", "", "newer")))},
		"it has another":      {byID(city("130", "LHR", "newer"))},
		"and it was deleted":  {byID(noCode(city("130", "", "newer"))), remove(report.Cities, "130")},
		"another city had it": {byID(city("140", "LON", "newer")), byID(noCode(city("140", "", "newer"))), byID(noCode(city("130", "", "newer")))},
		"twice":               {byID(noCode(city("130", "", "older"))), byID(city("130", "LON", "again")), byID(noCode(city("130", "", "newer")))},
	} {
		t.Run(name, func(t *testing.T) {
			h.append(t, byID(city("130", "LON", "old")))
			seq := h.refuse(t, refusal(report.Cities, "", "bad"))
			h.append(t, then...)
			if s := h.retry(t, seq, city("LON", "LON", "older"))[0]; s.Version != 0 {
				t.Errorf("the retry was stamped %+v, want it left out", s)
			}
			if s := h.append(t, city("LON", "", "a new city"))[0]; s.ID != "LON" {
				t.Errorf("what comes later is for %q", s.ID)
			}
			if s := h.append(t, byID(city("150", "LON", "with an id")))[0]; s.Adopted == 0 {
				t.Errorf("the new city is not adopted: %+v", s)
			}
			h.append(t, remove(report.Cities, "150"), remove(report.Cities, "130"), remove(report.Cities, "140"))
			h.has(t, map[report.ID]string{})
		})
	}
}

// testRetryRefusedCodeInAnyCase: a refused record of a city is retried after the city was deleted,
// or has lost its code, under another spelling of that code.
func testRetryRefusedCodeInAnyCase(t *testing.T, h *harness) {
	type changes = []report.Change
	for i, c := range []struct {
		name string
		make func(upper, lower, id string) (before, then changes, retry report.Change)
	}{
		{"deleted, and never there", func(upper, lower, id string) (changes, changes, report.Change) {
			return nil, changes{remove(report.Cities, lower)}, byID(city(id, upper, "older"))
		}},
		{"deleted, and known by the code", func(upper, lower, id string) (changes, changes, report.Change) {
			return changes{city(lower, "", "old")}, changes{remove(report.Cities, lower)}, byID(city(id, upper, "older"))
		}},
		{"deleted twice", func(upper, lower, id string) (changes, changes, report.Change) {
			return changes{city(lower, "", "old")}, changes{remove(report.Cities, lower), remove(report.Cities, lower)}, byID(city(id, upper, "older"))
		}},
		{"retried by the code", func(upper, lower, _ string) (changes, changes, report.Change) {
			return nil, changes{remove(report.Cities, lower)}, city(upper, upper, "older")
		}},
		{"retried by the path", func(upper, lower, _ string) (changes, changes, report.Change) {
			return nil, changes{remove(report.Cities, upper)}, city(lower, "", "older")
		}},
		{"the code was given up", func(upper, lower, id string) (changes, changes, report.Change) {
			return changes{byID(city(id, upper, "old"))}, changes{byID(noCode(city(id, "", "newer")))}, city(lower, "", "older")
		}},
		{"the code was the id", func(upper, lower, _ string) (changes, changes, report.Change) {
			return changes{city(upper, "", "old")}, changes{noCode(city(upper, "", "newer"))}, city(lower, "", "older")
		}},
	} {
		upper := "LO" + string(rune('A'+i))
		before, then, retry := c.make(upper, "l"+upper[1:2]+strings.ToLower(upper[2:]), fmt.Sprint(i))
		h.append(t, before...)
		seq := h.refuse(t, refusal(report.Cities, "", "bad"))
		h.append(t, then...)
		if s := h.retry(t, seq, retry)[0]; s.Version != 0 {
			t.Errorf("%s: the retry was stamped %+v, want it left out", c.name, s)
		}
		seq = h.refuse(t, refusal(report.Cities, "", "newest"))
		if s := h.retry(t, seq, retry)[0]; s.Version == 0 {
			t.Errorf("%s: what was refused later was left out: %+v", c.name, s)
		}
	}
}

func testRetryRefusedInvalid(t *testing.T, h *harness) {
	seq := h.refuse(t, refusal(report.Advisories, "1", "bad"))
	if _, err := h.Append(t.Context(), report.Delivery{RetryOf: seq, Changes: []report.Change{advisory("1", "")}}); err == nil {
		t.Error("an invalid retry was accepted")
	}
	h.kept(t, "bad")
}
