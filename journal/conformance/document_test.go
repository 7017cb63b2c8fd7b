package conformance

import (
	"context"
	"slices"
	"testing"
	"time"

	"riskdex/report"
)

var documentTests = []test{
	{"a document in each state", testDocumentStates},
	{"the rule by which a name leads to a document", testDocumentNamed},
}

func (h *harness) document(t tester, kind report.Kind, name report.ID) report.Document {
	t.Helper()
	d, err := h.Document(context.Background(), kind, name)
	if err != nil {
		t.Fatalf("Document(%s, %q): %v", kind, name, err)
	}
	return d
}

// foretold checks that Document says of a name which document a delete of it was for.
func foretold(t tester, d report.Document, deleted report.Stamp) {
	t.Helper()
	if deleted.Effect == report.Changed && (!d.By.Known() || d.Key != deleted.Key) {
		t.Errorf("a delete was for %+v, and Document had said %s %+v", deleted, d.By, d.Key)
	}
	if deleted.Effect == report.Unknown && d.By.Known() && d.Op != report.Delete {
		t.Errorf("a delete of nothing, and Document had said %s %+v", d.By, d.Key)
	}
}

func testDocumentStates(t *testing.T, h *harness) {
	stamps := h.append(t, city("live", "", "a"), city("pending", "", "b"), city("dead", "", "c"), city("dropped", "", "d"), city("gone", "", "e"), city("resending", "", "f"))
	h.append(t, remove(report.Cities, "gone"))
	h.clock.move(time.Minute)
	for _, c := range h.claim(t, report.Cities) {
		s := report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed}
		switch c.ID {
		case "dead", "dropped":
			s.Outcome, s.ErrorType, s.Reason = report.Dead, "mapper_parsing_exception", "it does not fit"
		case "gone":
			s.Outcome = report.Deleted
		case "pending":
			s.Outcome = report.Retry
		}
		h.settleWith(t, s)
	}
	h.dropDead(t, 1, stamps[3])
	h.reissue(t, 1, stamps[5])
	for id, want := range map[report.ID]struct {
		state report.State
		body  string
		lost  report.Lost
		op    report.Op
	}{
		"live":      {report.StateSettled, "a", report.NotLost, report.Index},
		"pending":   {report.StatePending, "b", report.NotLost, report.Index},
		"dead":      {report.StateDead, "c", report.NotLost, report.Index},
		"dropped":   {report.StateDropped, "", report.LostDropped, report.Index},
		"gone":      {report.StateSettled, "", report.NotLost, report.Delete},
		"resending": {report.StateResending, "f", report.NotLost, report.Index},
	} {
		d := h.document(t, report.Cities, id)
		if d.State != want.state || string(d.Body) != want.body || d.Lost != want.lost || d.Op != want.op || d.ID != id || !d.By.Known() || d.Version == 0 || !d.AcceptedAt.Equal(h.start) {
			t.Errorf("%s: %+v", id, d)
		}
		if pending := want.state == report.StatePending; pending != d.WaitingSince.Equal(h.start) || pending != d.EndedAt.IsZero() {
			t.Errorf("%s waits since %v, and ended at %v", id, d.WaitingSince, d.EndedAt)
		}
		if (want.state == report.StateDead) != (d.ErrorType == "mapper_parsing_exception" && d.Reason == "it does not fit") {
			t.Errorf("%s: %q, %q", id, d.ErrorType, d.Reason)
		}
	}
	for kind, name := range map[report.Kind]report.ID{"countries": "1", report.Cities: "", report.Advisories: report.ID(make([]byte, report.MaxIDBytes+1))} {
		if _, err := h.Document(context.Background(), kind, name); err == nil {
			t.Errorf("Document(%s, %q) has no error", kind, name)
		}
	}
}

func testDocumentNamed(t *testing.T, h *harness) {
	h.append(t, city("1", "LON", "{}"), city("2", "TWO", "{}"), city("3", "TWO", "{}"), city("4", "OLD", "{}"), city("5", "", "{}"), city("abc", "", "{}"), advisory("LON2", "{}"))
	h.append(t, remove(report.Cities, "4"))
	h.append(t, remove(report.Cities, "5"))
	h.append(t, remove(report.Cities, "abc"))
	h.append(t, city("6", "ABC", "{}"))
	for name, want := range map[report.ID]struct {
		by report.NamedBy
		id report.ID
	}{
		"1": {report.NamedByID, "1"}, "LON": {report.NamedByCode, "1"}, "lon": {report.NamedByCode, "1"}, "TWO": {report.NamedAmbiguous, ""},
		"OLD": {report.NamedByDeletedCode, "4"}, "5": {report.NamedByDeletedID, "5"}, "XXX": {report.NamedNothing, ""}, "LON2": {report.NamedNothing, ""},
		"abc": {report.NamedByCode, "6"},
	} {
		d := h.document(t, report.Cities, name)
		if d.By != want.by || d.ID != want.id {
			t.Errorf("%q leads to %q by %s, want %q by %s", name, d.ID, d.By, want.id, want.by)
		}
		if ids := (want.by == report.NamedAmbiguous); ids != slices.Equal(slices.Sorted(slices.Values(d.Cities)), []report.ID{"2", "3"}) {
			t.Errorf("%q may be %q", name, d.Cities)
		}
	}
	if d := h.document(t, report.Advisories, "lon"); d.By != report.NamedNothing {
		t.Errorf("an advisory by a code: %+v", d)
	}
}
