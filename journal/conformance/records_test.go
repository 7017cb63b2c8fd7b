package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"riskdex/journal"
	"riskdex/report"
)

var recordTests = []test{
	{"the newest record of every document that is there", testRecordsNewest},
	{"all records are of one moment", testRecordsSnapshot},
	{"more records than are read at a time", testRecordsMany},
	{"whoever has enough stops", testRecordsStop},
	{"closing the journal ends it", testRecordsClosed},
}

func (h *harness) records(t tester, kind report.Kind) (list []report.Record) {
	t.Helper()
	for r, err := range h.Records(context.Background(), kind) {
		if err != nil {
			t.Fatalf("Records: %v", err)
		}
		list = append(list, r)
	}
	return list
}

// texts describes records by id, body and what is lost of them.
func texts(list []report.Record) (out []string) {
	for _, r := range list {
		text := fmt.Sprintf("%s=%s", r.ID, r.Body)
		if r.Code != "" {
			text += fmt.Sprintf(" %s:%v", r.Code, r.HasCode)
		}
		if r.Lost != report.NotLost {
			text += " " + string(r.Lost)
		}
		out = append(out, text)
	}
	return out
}

func testRecordsNewest(t *testing.T, h *harness) {
	stamps := h.append(t, city("é", "", "old"), city("b/1", "LON", "a"), city("a", "PAR", "a"), city("gone", "", "a"), city("dead", "", "d"), city("dropped", "", "d"), advisory("other", "x"))
	h.append(t, city("é", "", "new\x00"), city("a", "", "says nothing of codes"), remove(report.Cities, "gone"))
	for _, c := range h.claim(t, report.Cities) {
		if c.ID == "dead" || c.ID == "dropped" {
			h.settle(t, c, report.Dead)
		}
	}
	h.dropDead(t, 1, stamps[5])
	want := []string{"a=says nothing of codes PAR:true", "b/1=a LON:true", "dead=d", "dropped= dropped", "é=new\x00"}
	list := h.records(t, report.Cities)
	if got := texts(list); !slices.Equal(got, want) {
		t.Errorf("records\n%q\nwant\n%q", got, want)
	}
	for i, e := range slices.DeleteFunc(h.entries(t, report.Cities, "", 100), func(e report.Entry) bool { return e.Op == report.Delete }) {
		if list[i].Key != e.Key || list[i].Version != e.Version || !list[i].AcceptedAt.Equal(h.start) {
			t.Errorf("record %+v of the entry %+v", list[i], e)
		}
	}
	if got := texts(h.records(t, report.Advisories)); !slices.Equal(got, []string{"other=x"}) {
		t.Errorf("advisories %q", got)
	}
	if got := h.records(t, report.SpecialReports); len(got) != 0 {
		t.Errorf("special reports %+v", got)
	}
	for _, err := range h.Records(context.Background(), "countries") {
		if err == nil {
			t.Error("records of no kind")
		}
	}
}

// A city that gets another id while its kind is read must not fall between.
func testRecordsSnapshot(t *testing.T, h *harness) {
	h.append(t, city("LON", "LON", "by its code"), city("m", "", "first"))
	var got []report.Record
	for r, err := range h.Records(context.Background(), report.Cities) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, r); len(got) == 1 {
			named := city("130", "LON", "by its id")
			named.OwnID = "130"
			h.append(t, named, city("m", "", "second"), city("z", "", "third"))
		}
	}
	if want := []string{"LON=by its code LON:true", "m=first"}; !slices.Equal(texts(got), want) {
		t.Errorf("records %q, want %q", texts(got), want)
	}
}

func testRecordsMany(t *testing.T, h *harness) {
	var changes []report.Change
	for i := range 2345 {
		changes = append(changes, advisory(number(i), string(bytes.Repeat([]byte{'x'}, i+1))))
	}
	changes[700].Body = bytes.Repeat([]byte("large"), 1<<19)
	h.append(t, changes...)
	list := h.records(t, report.Advisories)
	if len(list) != len(changes) {
		t.Fatalf("%d records of %d", len(list), len(changes))
	}
	for i, r := range list {
		if r.ID != changes[i].ID || !bytes.Equal(r.Body, changes[i].Body) {
			t.Fatalf("record %d is %q with %d bytes", i, r.ID, len(r.Body))
		}
	}
}

func testRecordsStop(t *testing.T, h *harness) {
	h.append(t, advisory("a", "1"), advisory("b", "2"))
	for range 20 { // more often than there are connections
		for r, err := range h.Records(context.Background(), report.Advisories) {
			if r.ID != "a" || err != nil {
				t.Fatalf("%+v, %v", r, err)
			}
			break
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var last error
	for _, err := range h.Records(ctx, report.Advisories) {
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("after its context ended: %v", last)
	}
}

func testRecordsClosed(t *testing.T, h *harness) {
	h.append(t, advisory("a", "1"), advisory("b", "2"))
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	var last error
	for _, err := range h.Records(context.Background(), report.Advisories) {
		last = err
	}
	if !errors.Is(last, journal.ErrClosed) {
		t.Errorf("a closed journal: %v", last)
	}
	h.Journal = h.again()
}
