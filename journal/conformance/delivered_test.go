package conformance

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"riskdex/report"
)

var deliveredTests = []test{
	{"a delivery has the documents whose newest content came with it", testDelivered},
	{"what is sent once more is still of its delivery", testDeliveredRenewed},
	{"cities that are adopted are of the delivery that has them adopted", testDeliveredAdopted},
	{"what a delivery had as a refusal is no change of it once a retry has brought it", testDeliveredRefused},
}

func (h *harness) delivered(t tester, name report.DeliveryName, after report.Version, limit int) report.DeliveredPage {
	t.Helper()
	read, err := report.ParseDeliveryName(name.String())
	if err != nil || read != name {
		t.Fatalf("the name %s is read as %+v, %v", name, read, err)
	}
	page, err := h.Delivered(context.Background(), name, after, limit)
	if err != nil {
		t.Fatalf("Delivered: %v", err)
	}
	return page
}

func deliveredIDs(page report.DeliveredPage) (list []report.ID) {
	for _, d := range page.Documents {
		list = append(list, d.ID)
	}
	return list
}

func testDelivered(t *testing.T, h *harness) {
	before := report.NameDelivery(h.append(t, advisory("a", "0")))
	name := report.NameDelivery(h.append(t, advisory("a", "1"), advisory("b", "1"), advisory("a", "2"), advisory("c", "1")))
	h.append(t, advisory("b", "2"))
	if got := h.delivered(t, before, 0, 10); got.Total != 0 || len(got.Documents) != 0 || got.Newest < name.Last {
		t.Errorf("of the delivery before there is %+v", got)
	}
	for _, c := range h.claim(t, report.Advisories) {
		if c.ID == "a" {
			h.settleWith(t, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Dead, ErrorType: "t", Reason: "r"})
		}
	}
	page := h.delivered(t, name, 0, 1)
	if name.Changes != 4 || page.Total != 2 || !slices.Equal(deliveredIDs(page), []report.ID{"a"}) || page.Documents[0].State != report.StateDead || page.Documents[0].Reason != "r" || page.Documents[0].ErrorType != "t" {
		t.Errorf("delivery %+v has %+v, want the dead letter a", name, page)
	}
	if page = h.delivered(t, name, page.Documents[0].Given, 10); !slices.Equal(deliveredIDs(page), []report.ID{"c"}) || page.Documents[0].State != report.StatePending {
		t.Errorf("then %+v, want c", page)
	}
	if none := report.NameDelivery(h.append(t, remove(report.Advisories, "x"))); none.Changes != 0 || h.delivered(t, none, 0, 10).Total != 0 {
		t.Errorf("a delete of nothing is %+v", none)
	}
	if _, err := report.ParseDeliveryName("1" + name.String()); err == nil {
		t.Error("another name is taken for one")
	}
}

func testDeliveredRenewed(t *testing.T, h *harness) {
	stamps := h.append(t, advisory("a", "1"), advisory("b", "1"))
	h.settleAll(t, h.claim(t, report.Advisories), report.Indexed)
	h.reissue(t, 1, stamps[0])
	page := h.delivered(t, report.NameDelivery(stamps), 0, 10)
	if page.Total != 2 || !slices.Equal(deliveredIDs(page), []report.ID{"a", "b"}) || page.Documents[0].Version <= stamps[1].Version || page.Documents[0].Given != stamps[0].Version {
		t.Errorf("delivery %+v", page)
	}
}

func testDeliveredAdopted(t *testing.T, h *harness) {
	h.append(t, city("LON", "LON", "1"), city("PAR", "PAR", "1"))
	own := func(id, code string) report.Change {
		c := city(id, code, "2")
		c.OwnID = report.ID(id)
		return c
	}
	stamps, err := h.Append(context.Background(), report.Delivery{Changes: []report.Change{own("130", "LON"), own("131", "PAR")}})
	if err != nil && !errors.Is(err, report.ErrAmbiguous) {
		t.Fatal(err)
	}
	name := report.NameDelivery(stamps)
	if page := h.delivered(t, name, 0, 10); name.Changes != 4 || page.Total != 4 || name.Last-name.First != 3 {
		t.Errorf("delivery %s has %+v", name, page)
	}
	h.append(t, city("130", "LON", "3"))
	if page := h.delivered(t, name, 0, 10); page.Total != 3 {
		t.Errorf("after one was replaced, delivery %s has %+v", name, page)
	}
}

func testDeliveredRefused(t *testing.T, h *harness) {
	stamps, err := h.Append(t.Context(), report.Delivery{
		Changes:  []report.Change{advisory("a", "1"), advisory("c", "1")},
		Refusals: []report.Refusal{{Kind: report.Advisories, Method: "POST", Position: 1, Reason: "r"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	name := report.NameDelivery(stamps)
	h.append(t, advisory("c", "2"))
	check := func(when string, want report.State) {
		t.Helper()
		page := h.delivered(t, name, 0, 10)
		if name.Changes != 2 || page.Total != 1 || page.Retried != 1 || !slices.Equal(deliveredIDs(page), []report.ID{"a", "b"}) {
			t.Fatalf("%s, delivery %s has %+v", when, name, page)
		}
		if b := page.Documents[1]; !b.Retried || b.State != want || page.Documents[0].Retried {
			t.Errorf("%s it has %+v", when, page.Documents)
		}
	}
	retried := h.retry(t, h.refusals(t)[0].Seq, advisory("b", "1"))
	check("after the retry", report.StatePending)
	h.settleAll(t, h.claim(t, report.Advisories), report.Indexed)
	h.reissue(t, 1, retried...)
	check("sent again", report.StateResending)

	// It keeps its place in the order of deliveries.
	h.refuse(t, refusal(report.Advisories, "", "later"))
	if s := h.retry(t, h.refusals(t)[0].Seq, advisory("b", "2"))[0]; s.Version == 0 {
		t.Error("a later one is left out")
	}
	if page := h.delivered(t, name, 0, 10); page.Retried != 0 || page.Total != 1 {
		t.Errorf("after a later one, the delivery has %+v", page)
	}
}

// testHistoryDelivered: history tells what became of the documents of a delivery that were
// replaced.
func testHistoryDelivered(t *testing.T, h *harness) {
	stamps := h.append(t, advisory("a", "1"), advisory("b", "1"), advisory("c", "1"), advisory("d", "1"), advisory("a", "2"))
	name := report.NameDelivery(stamps)
	h.indexAll(t, report.Advisories)
	h.append(t, advisory("d", "1"))
	h.indexAll(t, report.Advisories)
	h.append(t, advisory("d", "2"))
	h.clock.move(time.Minute)
	h.reissue(t, 1, stamps[1])
	by := h.append(t, advisory("b", "2"), remove(report.Advisories, "c"))
	for _, limit := range []int{1, 10} {
		var list []report.Delivered
		for after := report.Version(0); ; {
			page := h.delivered(t, name, after, limit)
			if page.Total != 1 || page.Replaced != 4 {
				t.Fatalf("delivery %+v", page)
			}
			if list = append(list, page.Documents...); len(page.Documents) < limit {
				break
			}
			after = page.Documents[limit-1].Given
		}
		at := func(minutes int) time.Time { return h.start.Add(time.Duration(minutes) * time.Minute) }
		replaced := func(stamp report.Stamp, state report.State, by report.Version, when, shown time.Time) report.Delivered {
			return report.Delivered{Key: stamp.Key, Given: stamp.Version, Version: stamp.Version, Op: report.Index, State: state, Replaced: true, ReplacedBy: by, ReplacedAt: when, SearchableAt: shown}
		}
		dAgain := h.history(t, stamps[3].Key)[1]
		want := []report.Delivered{
			replaced(stamps[0], report.StatePending, stamps[4].Version, at(0), time.Time{}),
			replaced(stamps[1], report.StateResending, by[0].Version, at(3), at(1)),
			replaced(stamps[2], report.StateSettled, by[1].Version, at(3), at(1)),
			replaced(stamps[3], report.StateSettled, dAgain.Version, at(1), at(1)),
			{Key: stamps[4].Key, Given: stamps[4].Version, Version: stamps[4].Version, Op: report.Index, State: report.StateSettled, EndedAt: at(1)},
		}
		if !slices.Equal(list, want) {
			t.Errorf("limit %d:\n%+v, want\n%+v", limit, list, want)
		}
	}
}
