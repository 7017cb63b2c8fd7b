package conformance

import (
	"testing"

	"riskdex/report"
)

var clearTests = []test{
	{"a newer delivery of the document clears its refusals", testClear},
	{"a delete clears refusals of the document", testClearByDelete},
	{"refusals of a city are cleared under its code as well", testClearCode},
	{"refusals of another city are not cleared", testClearOtherCity},
	{"refusals of the same delivery are not cleared", testClearSameDelivery},
	{"a retry or a renewal clears no refusals", testClearNotByRetry},
}

func testClear(t *testing.T, h *harness) {
	h.refuse(t, refusal(report.Advisories, "1", "first"), refusal(report.Advisories, "1", "second"),
		refusal(report.Advisories, "10", "other id"), refusal(report.Cities, "1", "other kind"), refusal("", "", "no kind"))
	h.append(t, advisory("2", "a"))
	h.kept(t, "no kind", "other kind", "other id", "second", "first")
	h.append(t, advisory("1", "a"))
	h.kept(t, "no kind", "other kind", "other id")
	h.append(t, index(report.Advisories, "lon", "", "a"))
	h.refuse(t, refusal(report.Advisories, "LON", "other case"))
	h.append(t, index(report.Advisories, "lon", "", "a"))
	h.kept(t, "other case", "no kind", "other kind", "other id")
	// What was cleared no longer counts against the bound.
	h.refuse(t, report.Refusal{Reason: "fifth"})
	h.kept(t, "fifth", "other case", "no kind", "other kind", "other id")
	h.reopen(t)
	h.kept(t, "fifth", "other case", "no kind", "other kind", "other id")
}

func testClearByDelete(t *testing.T, h *harness) {
	h.refuse(t, refusal(report.Advisories, "1", "bad"))
	h.append(t, remove(report.Advisories, "1"))
	h.kept(t)
}

func testClearCode(t *testing.T, h *harness) {
	for _, c := range []struct {
		name    string
		refused string
		newer   report.Change
	}{
		{"refused by code, delivered by id", "LON", city("1", "LON", "a")},
		{"in any case", "lon", city("1", "", "a")},
		{"refused by id, delivered by code", "1", city("LON", "", "a")},
		{"both by code", "lon", city("LoN", "", "a")},
		{"the code is replaced", "LON", city("lon", "LHR", "a")},
	} {
		h.append(t, city("1", "LON", "a"))
		h.refuse(t, refusal(report.Cities, c.refused, c.name))
		h.append(t, c.newer)
		if c.newer.Code == "LHR" {
			h.kept(t, c.name) // LON is no longer its code
			continue
		}
		h.kept(t)
	}
}

func testClearOtherCity(t *testing.T, h *harness) {
	h.append(t, city("PAR", "XXX", "a"), city("2", "PAR", "a"), city("3", "TWO", "a"), city("4", "TWO", "a"))
	h.refuse(t, refusal(report.Cities, "PAR", "the id of another"), refusal(report.Cities, "TWO", "the code of two"))
	h.append(t, city("2", "PAR", "a"), city("3", "TWO", "a"))
	h.kept(t, "the code of two", "the id of another")
	h.append(t, city("PAR", "", "a"))
	h.kept(t, "the code of two")
}

func testClearSameDelivery(t *testing.T, h *harness) {
	d := report.Delivery{Changes: []report.Change{advisory("1", "a")}, Refusals: []report.Refusal{refusal(report.Advisories, "1", "second record")}}
	if _, err := h.Append(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	h.kept(t, "second record")
}

func testClearNotByRetry(t *testing.T, h *harness) {
	dead := h.kill(t, advisory("1", "old"))
	settled := h.append(t, advisory("2", "old"))[0]
	h.settle(t, h.claimOne(t, report.Advisories), report.Indexed)
	h.refuse(t, refusal(report.Advisories, "1", "newer than 1"), refusal(report.Advisories, "2", "newer than 2"))
	h.retryDead(t, 1, dead)
	h.reissue(t, 1, settled)
	h.kept(t, "newer than 2", "newer than 1")
}
