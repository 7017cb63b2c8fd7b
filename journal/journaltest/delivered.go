package journaltest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"riskdex/report"
)

var deliveredTests = []test{
	{"a delivery has the documents whose newest content came with it", testDelivered},
	{"what is sent once more is still of its delivery", testDeliveredRenewed},
	{"cities that are adopted are of the delivery that has them adopted", testDeliveredAdopted},
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
	h.renew(t, 1, stamps[0])
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
