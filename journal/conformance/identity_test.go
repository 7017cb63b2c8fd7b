package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"riskdex/report"
)

var identityTests = []test{
	{"which city a change is for", testResolve},
	{"a record is for the document of its own id", testResolveByID},
	{"earlier changes of the same delivery count", testResolveSameDelivery},
	{"a code that is no longer stated stays", testCodeStays},
	{"a code that is replaced no longer counts", testCodeReplaced},
	{"only cities answer to a code", testCodeOtherKinds},
	{"a city known by its code is adopted, and a repeated delete removes nothing else", testAdopted},
	{"a city known by its code is adopted by a record under its code", testAdoptedByPath},
	{"a city that was adopted comes back under the id that adopted it", testAdoptedComesBack},
	{"a retry does not adopt a newer city", testAdoptedByRetry},
	{"the id in the record decides, and codes may be swapped", testSwappedCodes},
	{"a city loses its code by giving it up, or when another one states it", testCodeLeaves},
	{"a dead letter that is replaced without its code does not take it back", testCodeOfReplaced},
	{"the names of a city that has lost its code", testCodeLost},
	{"a code is stated by records that have it, and by no others", testCodeStated},
	{"a delete of an unknown city does not create it", testNeverThere},
	{"a code of several cities is ambiguous", testAmbiguous},
	{"a city known by its code is adopted beside others that state it", testAdoptedBesideOthers},
	{"a city known by its code is adopted only by a record with an id", testAdoptedByID},
	{"a code of several cities, one of them deleted in between, is ambiguous", testAmbiguousSince},
	{"of many records by a code of several cities, the first are kept", testAmbiguousMany},
	{"a retry by a code of several cities changes nothing", testAmbiguousRetry},
	{"what another journal tells names documents as that one does", testMirror},
}

func own(c report.Change, id string) report.Change {
	c.OwnID = report.ID(id)
	return c
}

func noCode(c report.Change) report.Change {
	c.NoCode = true
	return c
}

// has checks the bodies of the live cities.
func (h *harness) has(t *testing.T, want map[report.ID]string) {
	t.Helper()
	got := map[report.ID]string{}
	for _, c := range h.claim(t, report.Cities) {
		if c.Op == report.Index {
			got[c.ID] = string(c.Body)
		}
		h.settle(t, c, report.Retry)
	}
	if !maps.Equal(got, want) {
		t.Errorf("the journal has the cities %q, want %q", got, want)
	}
}

func testResolve(t *testing.T, h *harness) {
	h.append(t,
		city("1", "LON", "{}"), own(city("PAR", "XXX", "{}"), "PAR"), city("2", "PAR", "{}"),
		city("5", "GON", "{}"), city("6", "DBL", "{}"), city("7", "DBL", "{}"),
		own(city("NYC", "", "{}"), "NYC"), city("8", "NYC", "{}"), city("ROM", "", "{}"))
	h.append(t, remove(report.Cities, "5"), remove(report.Cities, "6"), remove(report.Cities, "7"), remove(report.Cities, "ROM"))
	for _, c := range []struct {
		name  string
		given report.Change
		want  report.ID
	}{
		{"the id of a live city", city("1", "", "{}"), "1"},
		{"the code of one live city", remove(report.Cities, "LON"), "1"},
		{"in any case", city("lon", "", "{}"), "1"},
		{"an id goes before another's code", city("PAR", "", "{}"), "PAR"},
		{"the code of one that was deleted", city("GON", "", "{}"), "5"},
		{"the code of two that were deleted: of the last", city("DBL", "", "{}"), "7"},
		{"the id of a live city that is another's code", remove(report.Cities, "NYC"), "NYC"},
		{"and once more: the other has stated it before", remove(report.Cities, "NYC"), "NYC"},
		{"its own id, when nothing else is known", own(city("SYD", "SYD", "{}"), "9"), "9"},
		{"its own id goes before the code", own(city("XXX", "", "{}"), "10"), "10"},
		{"but not before the id of one that was deleted", own(city("ROM", "", "{}"), "11"), "ROM"},
		{"nothing known at all", city("OSL", "", "{}"), "OSL"},
	} {
		if got := h.append(t, c.given)[0]; got.ID != c.want || got.Kind != report.Cities {
			t.Errorf("%s: %q is for %q, want %q", c.name, c.given.ID, got.ID, c.want)
		}
	}
	h.append(t, city("8", "NYC", "{}"))
	if got := h.append(t, city("NYC", "", "{}"))[0]; got.ID != "8" {
		t.Errorf("the tombstone NYC went before the live city that has stated that code since: %q", got.ID)
	}
}

func testAdopted(t *testing.T, h *harness) {
	h.append(t, city("LON", "LON", "by code"))
	h.append(t, city("130", "LON", "by id"))
	h.has(t, map[report.ID]string{"130": "by id"})
	h.expect(t, report.Cities, "index=2 delete=1 superseded=1 pending=2")
	for i, want := range []report.Effect{report.Changed, report.Unknown} {
		if s := h.append(t, remove(report.Cities, "LON"))[0]; s.ID != "130" || s.Effect != want {
			t.Errorf("delete %d by its code was stamped %+v", i, s)
		}
	}
	h.append(t, city("130", "LON", "back"))
	if s := h.append(t, city("LON", "", "by path"))[0]; s.ID != "130" {
		t.Errorf("a path that is its code is for %q", s.ID)
	}
	h.append(t, city("osl", "", "a path that nobody knows")) // is known by nothing else
	h.append(t, own(city("OSL", "OSL", "now with its id"), "7"))
	// An id that a record states is more than a code.
	h.append(t, byID(city("ULM", "ULM", "an id")), byID(city("8", "ULM", "another")))
	h.has(t, map[report.ID]string{"130": "by path", "7": "now with its id", "ULM": "an id", "8": "another"})
}

func testAdoptedByPath(t *testing.T, h *harness) {
	h.append(t, city("PAR", "", "by path"), city("lon", "LON", "by code"), city("OSL", "", "by path"), city("XXX", "YYY", "another code"))
	h.append(t, own(city("PAR", "", "another id, no code"), "74"), own(city("XXX", "XXX", "not known by that alone"), "9"))
	h.has(t, map[report.ID]string{"PAR": "another id, no code", "lon": "by code", "OSL": "by path", "XXX": "not known by that alone"})
	for _, c := range []struct{ path, code, id string }{{"PAR", "PAR", "75"}, {"lon", "LON", "130"}, {"OSL", "OSL", "osl"}} {
		want := c.id
		if c.id == "osl" { // which is no other id than its code
			want = c.path
		}
		if s := h.append(t, own(city(c.path, c.code, "now with its id"), c.id))[0]; s.ID != report.ID(want) {
			t.Errorf("a delivery for %s with the id %s is for %q", c.path, c.id, s.ID)
		}
	}
	h.has(t, map[report.ID]string{"75": "now with its id", "130": "now with its id", "OSL": "now with its id", "XXX": "not known by that alone"})
	if s := h.append(t, remove(report.Cities, "75"))[0]; s.Effect != report.Changed {
		t.Errorf("a delete by the id was stamped %+v, want a change", s)
	}
	if s := h.append(t, remove(report.Cities, "LON"))[0]; s.ID != "130" || s.Effect != report.Changed {
		t.Errorf("a delete by the code was stamped %+v, want a change of 130", s)
	}
}

// testAdoptedComesBack deletes a city that was adopted, and brings it back by its former
// name. A later delete must find it under the same name.
func testAdoptedComesBack(t *testing.T, h *harness) {
	for name, c := range map[string]struct{ back, end report.Change }{
		"its code as the path, its id in the record": {own(city("ABS", "ABS", "back"), "1044"), remove(report.Cities, "1044")},
		"its code in any case":                       {own(city("abs", "", "back"), "1044"), remove(report.Cities, "ABS")},
		"its code and no id":                         {city("ABS", "ABS", "back"), remove(report.Cities, "1044")},
		"its id":                                     {byID(city("1044", "ABS", "back")), remove(report.Cities, "abs")},
	} {
		t.Run(name, func(t *testing.T) {
			h.append(t, city("ABS", "ABS", "by code"), own(city("ABS", "ABS", "now with its id"), "1044"))
			h.append(t, remove(report.Cities, "1044"))
			h.has(t, map[report.ID]string{})
			if s := h.append(t, c.back)[0]; s.ID != "1044" {
				t.Errorf("the city comes back under %q", s.ID)
			}
			h.has(t, map[report.ID]string{"1044": "back"})
			if s := h.append(t, c.end)[0]; s.ID != "1044" || s.Effect != report.Changed {
				t.Errorf("the delete was stamped %+v", s)
			}
			h.has(t, map[report.ID]string{})
		})
	}
}

func testAdoptedByRetry(t *testing.T, h *harness) {
	seq := h.refuse(t, refusal(report.Cities, "130", "older"))
	h.append(t, city("LON", "LON", "newer"))
	if s := h.retry(t, seq, byID(city("130", "LON", "older")))[0]; s.Version != 0 {
		t.Errorf("the retry was stamped %+v, want it left out", s)
	}
	seq = h.refuse(t, refusal(report.Cities, "130", "newest"))
	h.has(t, map[report.ID]string{"LON": "newer"})
	h.retry(t, seq, byID(city("130", "LON", "newest")))
	h.has(t, map[report.ID]string{"130": "newest"})
	if s := h.append(t, remove(report.Cities, "LON"))[0]; s.ID != "130" {
		t.Errorf("a delete by its code is for %q", s.ID)
	}
}

func testSwappedCodes(t *testing.T, h *harness) {
	h.append(t, byID(city("50", "OLD", "50")), byID(city("51", "NEW", "51")), remove(report.Cities, "51"))
	h.append(t, own(city("NEW", "NEW", "50 again"), "50"))
	h.append(t, byID(city("1", "AAA", "1")), byID(city("2", "BBB", "2")))
	h.append(t, own(city("AAA", "", "2 again"), "2"), own(city("BBB", "", "1 again"), "1"))
	want := map[report.ID]string{"50": "50 again", "1": "1 again", "2": "2 again"}
	h.has(t, want)
	for _, c := range []struct{ code, id report.ID }{{"AAA", "2"}, {"BBB", "1"}, {"NEW", "50"}} {
		if s := h.append(t, remove(report.Cities, string(c.code)))[0]; s.ID != c.id {
			t.Errorf("%s is the code of %q, want %q", c.code, s.ID, c.id)
		}
	}
}

func testCodeLeaves(t *testing.T, h *harness) {
	h.append(t, city("1", "GNE", "{}"), city("2", "TAK", "{}"), city("2", "", "says nothing of codes"))
	h.append(t, noCode(city("1", "", "gives it up")), city("3", "TAK", "takes it"))
	for _, c := range []struct{ code, id report.ID }{{"GNE", "GNE"}, {"TAK", "3"}, {"TAK", "3"}} {
		if s := h.append(t, remove(report.Cities, string(c.code)))[0]; s.ID != c.id {
			t.Errorf("%s is the code of %q, want %q", c.code, s.ID, c.id)
		}
	}
	h.append(t, city("6", "END", "{}"), remove(report.Cities, "6"), city("7", "END", "{}"), remove(report.Cities, "7"))
	if s := h.append(t, city("END", "", "back"))[0]; s.ID != "7" {
		t.Errorf("a code of two deleted cities leads to %q, want the one that stated it last", s.ID)
	}
	h.append(t, city("XXX", "YYY", "another code"), own(city("8", "YYY", "takes it"), "8"))
	if s := h.append(t, remove(report.Cities, "XXX"))[0]; s.ID != "XXX" || s.Effect != report.Changed {
		t.Errorf("the delete was stamped %+v; a city whose id is not its code must not be adopted", s)
	}
	h.append(t, city("4", "TWO", "{}"), city("5", "TWO", "{}"), city("5", "", "says nothing of codes"))
	if s := h.append(t, remove(report.Cities, "TWO"))[0]; s.ID != "4" {
		t.Errorf("the code leads to %q, want the city whose newest record states it", s.ID)
	}
}

// testCodeOfReplaced: the record neither takes the code from another city nor states it.
func testCodeOfReplaced(t *testing.T, h *harness) {
	stamps := h.append(t, byID(city("1", "LON", "{}")), byID(city("2", "LON", "{}")))
	for _, c := range h.claim(t, report.Cities) {
		h.settle(t, c, report.Dead)
	}
	if _, err := h.ReplaceDead(t.Context(), stamps[0], city("1", "", "says nothing of codes")); err != nil {
		t.Fatal(err)
	}
	if s := h.append(t, city("LON", "", "by its code"))[0]; s.ID != "2" {
		t.Errorf("the code leads to %q, want the city whose newest record states it", s.ID)
	}
}

func testCodeLost(t *testing.T, h *harness) {
	h.append(t, city("XXX", "YYY", "{}"), city("XXX", "", "says nothing of codes"), own(city("8", "YYY", "takes it"), "8"))
	h.append(t, city("XXX", "", "its path is all that it is called by"))
	for _, c := range []struct{ code, id report.ID }{{"yyy", "8"}, {"xxx", "XXX"}} {
		if s := h.append(t, remove(report.Cities, string(c.code)))[0]; s.ID != c.id {
			t.Errorf("%s is the code of %q, want %q", c.code, s.ID, c.id)
		}
	}
}

func testCodeStated(t *testing.T, h *harness) {
	h.append(t, byID(city("NYC", "", "an id")), city("9", "NYC", "states it"), remove(report.Cities, "NYC"))
	h.append(t, city("9", "", "says nothing of codes"), city("9", "", "nor does this one"))
	if s := h.append(t, remove(report.Cities, "NYC"))[0]; s.ID != "NYC" || s.Effect != report.Unknown {
		t.Errorf("a repeated delete was stamped %+v", s)
	}
}

func testNeverThere(t *testing.T, h *harness) {
	h.refuse(t, refusal(report.Cities, "", "kept, so that deletes are remembered"))
	unknown := remove(report.Cities, "LON")
	for range 2 {
		if s := h.append(t, unknown)[0]; s.ID != "LON" || s.Version == 0 || s.Effect != report.Unknown {
			t.Errorf("a delete of an unknown city is stamped %+v", s)
		}
		h.settle(t, h.claimOne(t, report.Cities), report.Dead)
		h.reopen(t)
		if s := h.append(t, unknown)[0]; s.ID != "LON" || s.Version == 0 {
			t.Errorf("a delete after one that was refused by the index is stamped %+v", s)
		}
	}
	h.append(t, own(city("130", "LON", "first"), "130"), remove(report.Cities, "LON"))
	if s := h.append(t, city("LON", "LON", "comes back"))[0]; s.ID != "130" {
		t.Errorf("LON brings back %q, want 130", s.ID)
	}
	h.append(t, remove(report.Cities, "PAR"))
	if s := h.append(t, own(city("PAR", "", "its path is its code"), "75"))[0]; s.ID != "75" {
		t.Errorf("PAR is for %q, want 75", s.ID)
	}
	h.has(t, map[report.ID]string{"130": "comes back", "75": "its path is its code"})
}

func testAmbiguous(t *testing.T, h *harness) {
	h.append(t, byID(city("3", "TWO", "3")), byID(city("4", "TWO", "4")))
	for i, c := range []report.Change{remove(report.Cities, "TWO"), city("two", "", "which?")} {
		d := report.Delivery{Changes: []report.Change{byID(city("9", "", "before")), c, byID(city("9", "", "after"))}}
		d.Ambiguous = func(i int) report.Refusal { return refusal(report.Cities, string(d.Changes[i].ID), "ambiguous") }
		stamps, err := h.Append(context.Background(), d)
		if err != nil || len(stamps) != 3 {
			t.Fatalf("stamped %v, %v; want three stamps", stamps, err)
		}
		if s := stamps[1]; s.Effect != report.Ambiguous || s.Version != 0 || stamps[2].Effect != report.Changed {
			t.Errorf("stamped %+v", stamps)
		}
		h.has(t, map[report.ID]string{"3": "3", "4": "4", "9": "after"})
		if list, err := h.Refusals(context.Background(), 0, 10); err != nil || len(list) != i+1 {
			t.Errorf("%d refusals are kept, %v", len(list), err)
		}
	}
	if s := h.append(t, own(city("TWO", "TWO", "5"), "5"))[0]; s.ID != "5" {
		t.Errorf("a record that states an id is for %q", s.ID)
	}
	h.append(t, remove(report.Cities, "3"), remove(report.Cities, "5"))
	if s := h.append(t, remove(report.Cities, "TWO"))[0]; s.ID != "4" {
		t.Errorf("the code of one that is left is for %q", s.ID)
	}
}

func testAdoptedBesideOthers(t *testing.T, h *harness) {
	for _, alone := range []string{"PAR", "osl"} {
		h.append(t, byID(city("1", "ONE", "1")), byID(city("2", "TWO", "2")), city(alone, "XXX", "another code"))
		h.append(t, byID(city("1", alone, "1")), byID(city("2", alone, "2")), city(alone, alone, "its own"))
		h.has(t, map[report.ID]string{"1": "1", "2": "2", report.ID(alone): "its own"})
		h.append(t, byID(city("3", alone, "3")))
		h.has(t, map[report.ID]string{"1": "1", "2": "2", "3": "3"})
		h.append(t, remove(report.Cities, "3"))
	}
}

func testAdoptedByID(t *testing.T, h *harness) {
	h.append(t, city("LON", "LON", "London"), city("PAR", "PAR", "Paris"))
	h.append(t, city("PAR", "LON", "a wrong code"))
	h.append(t, city("ROM", "LON", "a new one with it"))
	h.has(t, map[report.ID]string{"LON": "London", "PAR": "a wrong code", "ROM": "a new one with it"})
	h.append(t, byID(city("PAR", "LON", "its id, and the code as before")))
	h.has(t, map[report.ID]string{"PAR": "its id, and the code as before", "ROM": "a new one with it"})
}

func testAmbiguousSince(t *testing.T, h *harness) {
	h.append(t, byID(city("PAR", "", "an id like a code")), byID(city("1", "PAR", "1")), byID(city("2", "PAR", "2")), byID(city("3", "", "3")))
	exactly := remove(report.Cities, "PAR")
	exactly.ExactID = true
	h.append(t, exactly)
	if s := h.append(t, remove(report.Cities, "PAR"))[0]; s.Effect == report.Ambiguous {
		t.Errorf("a repeated delete was stamped %+v", s)
	}
	h.append(t, byID(city("3", "PAR", "3 states it since")))
	d := report.Delivery{
		Changes:   []report.Change{remove(report.Cities, "PAR")},
		Ambiguous: func(int) report.Refusal { return refusal(report.Cities, "PAR", "ambiguous") },
	}
	if stamps, err := h.Append(context.Background(), d); err != nil || stamps[0].Effect != report.Ambiguous {
		t.Errorf("stamped %+v, %v; want it ambiguous", stamps, err)
	}
	h.has(t, map[report.ID]string{"1": "1", "2": "2", "3": "3 states it since"})
}

func testAmbiguousMany(t *testing.T, h *harness) {
	h.append(t, byID(city("3", "TWO", "3")), byID(city("4", "TWO", "4")))
	const bound, many = 5, 50 // the bound of the suite
	d, made := report.Delivery{}, 0
	for i := range many {
		c := city("TWO", "", "which?")
		if i == many-2 {
			c = byID(city("9", "", "between"))
		}
		d.Changes = append(d.Changes, c)
	}
	d.Refusals = []report.Refusal{refusal(report.Cities, "", "the second"), refusal(report.Cities, "", "the last")}
	d.Refusals[0].Position, d.Refusals[1].Position = 1, many+1
	d.Ambiguous = func(int) report.Refusal {
		made++
		return refusal(report.Cities, "TWO", "ambiguous")
	}
	stamps, err := h.Append(context.Background(), d)
	if err != nil || len(stamps) != many || stamps[many-1].Effect != report.Ambiguous || stamps[many-2].Effect != report.Changed {
		t.Fatalf("stamped %+v, %v", stamps, err)
	}
	if made >= bound {
		t.Errorf("%d refusals were made, of which %d are kept", made, bound)
	}
	h.kept(t, "ambiguous", "ambiguous", "ambiguous", "the second", "ambiguous")
	if more := fmt.Sprintf("(%d more records of this delivery were refused", many-1+2-bound); !strings.Contains(h.refusals(t)[0].Detail, more) {
		t.Errorf("the last refusal does not say %q", more)
	}
	h.has(t, map[report.ID]string{"3": "3", "4": "4", "9": "between"})
}

func testAmbiguousRetry(t *testing.T, h *harness) {
	h.append(t, byID(city("3", "TWO", "3")), byID(city("4", "TWO", "4")))
	seq := h.refuse(t, refusal(report.Cities, "TWO", "bad"))
	_, err := h.Append(context.Background(), report.Delivery{Changes: []report.Change{byID(city("5", "", "5")), city("TWO", "", "which?")}, RetryOf: seq})
	if !errors.Is(err, report.ErrAmbiguous) {
		t.Errorf("the retry returned %v, want ErrAmbiguous", err)
	}
	h.has(t, map[report.ID]string{"3": "3", "4": "4"})
	h.kept(t, "bad")
}

func byID(c report.Change) report.Change {
	c.OwnID = c.ID
	return c
}

// testResolveByID has cities whose ids are codes of others, in any order, known or not,
// alive or deleted, and refused before.
func testResolveByID(t *testing.T, h *harness) {
	snapshot := []report.Change{
		byID(city("LIM", "PER", "Lima")), byID(city("PER", "AUS", "Perth")), byID(city("AUS", "", "no code")),
		byID(city("n1", "ULM", "Ulm")), byID(city("ulm", "QUL", "Quelimane")),
	}
	for range 2 {
		for i, s := range h.append(t, snapshot...) {
			if s.Key != snapshot[i].Key {
				t.Errorf("%q is for %q", snapshot[i].ID, s.ID)
			}
		}
	}
	h.expect(t, report.Cities, "index=10 superseded=5 pending=5")
	if s := h.append(t, remove(report.Cities, "QUL"))[0]; s.ID != "ulm" {
		t.Errorf("a path that is the code of ulm is for %q", s.ID)
	}
	if s := h.append(t, byID(city("ulm", "QUL", "back")))[0]; s.ID != "ulm" {
		t.Errorf("the path leads to %q, whose code it is; want the tombstone with that id", s.ID)
	}
	h.append(t, city("2", "NYC", "first"))
	seq := h.refuse(t, refusal(report.Cities, "2", "of the other"), refusal(report.Cities, "", "bad"))
	if s := h.retry(t, seq, byID(city("NYC", "", "retried")))[0]; s.ID != "NYC" || s.Version == 0 {
		t.Errorf("the retry was stamped %+v, want it for NYC", s)
	}
	h.kept(t, "of the other")
	bodies := map[report.ID]string{}
	for _, c := range h.claim(t, report.Cities) {
		bodies[c.ID] = string(c.Body)
	}
	want := map[report.ID]string{
		"LIM": "Lima", "PER": "Perth", "AUS": "no code", "n1": "Ulm", "ulm": "back", "2": "first", "NYC": "retried",
	}
	if !maps.Equal(bodies, want) {
		t.Errorf("the journal has %q, want %q", bodies, want)
	}
}

func testResolveSameDelivery(t *testing.T, h *harness) {
	stamps := h.append(t, city("1", "LON", "first"), city("LON", "LON", "second"), remove(report.Cities, "lon"))
	for i, s := range stamps {
		if s.ID != "1" {
			t.Errorf("change %d is for %q, want 1", i, s.ID)
		}
	}
	h.expect(t, report.Cities, "index=2 delete=1 superseded=2 pending=1")
	if c := h.claimOne(t, report.Cities); c.Op != report.Delete || c.ID != "1" {
		t.Errorf("claimed %+v, want only the last change", c)
	}
}

func testCodeStays(t *testing.T, h *harness) {
	h.append(t, city("1", "LON", "{}"))
	h.append(t, city("1", "", "no code"))
	h.append(t, remove(report.Cities, "1"))
	if got := h.append(t, city("LON", "", "again"))[0]; got.ID != "1" {
		t.Errorf("LON is for %q, want 1", got.ID)
	}
	if c := h.claimOne(t, report.Cities); c.Code != "LON" {
		t.Errorf("the code of the city is %q, want LON", c.Code)
	}
}

func testCodeReplaced(t *testing.T, h *harness) {
	h.append(t, city("1", "LON", "{}"))
	h.append(t, city("1", "LHR", "{}"))
	if got := h.append(t, remove(report.Cities, "LON"))[0]; got.ID != "LON" {
		t.Errorf("LON is for %q, want LON itself", got.ID)
	}
	if got := h.append(t, remove(report.Cities, "LHR"))[0]; got.ID != "1" {
		t.Errorf("LHR is for %q, want 1", got.ID)
	}
}

func testCodeOtherKinds(t *testing.T, h *harness) {
	h.append(t, index(report.Advisories, "1", "LON", "{}"), city("2", "PAR", "{}"))
	for _, c := range []report.Change{remove(report.Advisories, "LON"), remove(report.Advisories, "PAR"), remove(report.Cities, "LON")} {
		if got := h.append(t, c)[0]; got.Key != c.Key {
			t.Errorf("%v is for %v", c.Key, got.Key)
		}
	}
}

// testMirror copies what the feed tells to another journal, with versions far ahead of its clock.
func testMirror(t *testing.T, h *harness) {
	h.clock.move(longAfter)
	h.append(t, city("LON", "", "known by its code"), byID(city("7", "PAR", "states its code")), byID(city("8", "", "none")))
	h.append(t, byID(city("8", "PAR", "states it, too")))
	h.append(t, byID(city("9", "ROM", "keeps")), byID(city("9", "", "its code")), city("OSL", "", "adopted"), byID(city("10", "OSL", "by this")))
	h.append(t, byID(city("ULM", "", "an id")), byID(city("11", "ULM", "has it as its code")), remove(report.Cities, "ULM"), byID(city("12", "BER", "deleted")), remove(report.Cities, "12"))
	h.settleAll(t, h.claim(t, report.Cities), report.Indexed)
	var stamps []report.Stamp
	for _, e := range h.entries(t, report.Cities, "", 100) {
		if e.ID == "11" {
			stamps = append(stamps, e.Stamp)
		}
	}
	if n, err := h.Reissue(context.Background(), stamps); err != nil || n != 1 {
		t.Fatalf("Reissue: %d, %v", n, err)
	}
	page := h.feed(t, report.Cursor{Kinds: report.Kinds()}, 100, 1<<20)
	var d report.Delivery
	for _, r := range page.Changes {
		if !r.HasCode {
			r.Code = ""
		}
		d.Changes, d.Above = append(d.Changes, report.Change{Key: r.Key, OwnID: r.ID, Op: r.Op, Code: r.Code, Identity: r.Identity, Body: r.Body}), r.Version
	}
	other := h.other(t)
	if _, err := other.Append(context.Background(), report.Delivery{Changes: []report.Change{byID(city("13", "BER", "from before")), remove(report.Cities, "13")}}); err != nil {
		t.Fatalf("Append: %v", err)
	}
	got, err := other.Append(context.Background(), d)
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	for i, s := range got {
		if s.Key != d.Changes[i].Key || s.Version <= d.Above {
			t.Errorf("%q got the version %d, want one above %d", d.Changes[i].ID, s.Version, d.Above)
		}
	}
	for _, name := range []report.ID{"LON", "lon", "7", "8", "9", "10", "11", "12", "PAR", "ROM", "OSL", "ULM", "BER"} {
		want, there := h.document(t, report.Cities, name), report.Document{}
		if there, err = other.Document(context.Background(), report.Cities, name); err != nil {
			t.Fatalf("Document: %v", err)
		}
		if there.By != want.By || there.Key != want.Key || string(there.Body) != string(want.Body) || there.HasCode != want.HasCode {
			t.Errorf("%q is %s %q there, want %s %q", name, there.By, there.ID, want.By, want.ID)
		}
	}
	d.Above = 1 << 62
	if _, err := other.Append(context.Background(), d); err == nil {
		t.Error("versions that no clock gives are taken")
	}
}
