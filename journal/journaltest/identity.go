package journaltest

import (
	"maps"
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
}

func own(c report.Change, id string) report.Change {
	c.OwnID = report.ID(id)
	return c
}

func testResolve(t *testing.T, h *harness) {
	h.append(t,
		city("1", "LON", "{}"), city("PAR", "XXX", "{}"), city("2", "PAR", "{}"),
		city("3", "TWO", "{}"), city("4", "TWO", "{}"),
		city("5", "GON", "{}"), city("6", "DBL", "{}"), city("7", "DBL", "{}"),
		city("NYC", "", "{}"), city("8", "NYC", "{}"), city("ROM", "", "{}"))
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
		{"the code of two live cities", city("TWO", "", "{}"), "TWO"},
		{"the code of one tombstone", city("GON", "", "{}"), "5"},
		{"the code of two tombstones", city("DBL", "", "{}"), "DBL"},
		{"a live city goes before a tombstone with that id", remove(report.Cities, "NYC"), "NYC"},
		{"its own id, when nothing else is known", own(city("SYD", "SYD", "{}"), "9"), "9"},
		{"its own id does not count when the code is known", own(city("XXX", "", "{}"), "10"), "PAR"},
		{"nor when the id is", own(city("ROM", "", "{}"), "11"), "ROM"},
		{"nothing known at all", city("OSL", "", "{}"), "OSL"},
	} {
		if got := h.append(t, c.given)[0]; got.ID != c.want || got.Kind != report.Cities {
			t.Errorf("%s: %q is for %q, want %q", c.name, c.given.ID, got.ID, c.want)
		}
	}
	if got := h.append(t, city("NYC", "", "{}"))[0]; got.ID != "8" {
		t.Errorf("the tombstone NYC went before the live city with that code: %q", got.ID)
	}
}

func byID(c report.Change) report.Change {
	c.ByID = true
	return c
}

// testResolveByID has cities whose ids are codes of others, in any order, known or
// not, alive or deleted, and refused before.
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
		t.Errorf("a tombstone with that id was passed over for %q, whose code it is", s.ID)
	}
	h.append(t, city("2", "NYC", "first"))
	seq := h.refuse(t, refusal(report.Cities, "2", "of the other"), refusal(report.Cities, "", "bad"))
	if s := h.retry(t, seq, byID(city("NYC", "", "retried")))[0]; s.ID != "NYC" || s.Version == 0 {
		t.Errorf("what had been refused was stamped %+v, want NYC", s)
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
		t.Errorf("claimed %+v", c)
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
		t.Errorf("its code is %q", c.Code)
	}
}

func testCodeReplaced(t *testing.T, h *harness) {
	h.append(t, city("1", "LON", "{}"))
	h.append(t, city("1", "LHR", "{}"))
	if got := h.append(t, remove(report.Cities, "LON"))[0]; got.ID != "LON" {
		t.Errorf("LON is for %q", got.ID)
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
