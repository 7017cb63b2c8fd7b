package conformance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"riskdex/report"
)

var entryTests = []test{
	{"every document has its entry, in each state", testEntriesStates},
	{"pages follow each other in the order of bytes", testEntriesPages},
	{"many ids are looked up at once", testLookupMany},
}

func number(i int) string { return fmt.Sprintf("%04d", i) }

func (h *harness) entries(t tester, kind report.Kind, after report.ID, limit int) []report.Entry {
	t.Helper()
	list, err := h.Entries(context.Background(), kind, after, limit)
	if err != nil {
		t.Fatalf("Entries: %v", err)
	}
	return list
}

func (h *harness) lookup(t tester, kind report.Kind, ids ...report.ID) []report.Entry {
	t.Helper()
	list, err := h.Lookup(context.Background(), kind, ids)
	if err != nil {
		t.Fatalf("Lookup: %v", err)
	}
	slices.SortFunc(list, func(a, b report.Entry) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

func testEntriesStates(t *testing.T, h *harness) {
	h.append(t, advisory("gone", "a"))
	stamps := h.append(t, advisory("dead", "a"), advisory("dropped", "a"), remove(report.Advisories, "gone"),
		advisory("live", "a"), advisory("pending", "a"), advisory("resending", "a"), city("other", "", "a"))
	for _, c := range h.claim(t, report.Advisories) {
		o := map[report.ID]report.Outcome{"dead": report.Dead, "dropped": report.Dead, "gone": report.Deleted, "pending": report.Retry}[c.ID]
		h.settle(t, c, cmp.Or(o, report.Indexed))
	}
	h.dropDead(t, 1, stamps[1])
	h.reissue(t, 1, stamps[5])
	stamps[5].Version = h.claimOneOf(t, report.Advisories, "resending").Version

	var want []report.Entry
	for i, state := range []report.State{report.StateDead, report.StateDropped, report.StateSettled,
		report.StateSettled, report.StatePending, report.StateResending} {
		e := report.Entry{Stamp: stamps[i], Op: report.Index, State: state}
		if e.ID == "gone" {
			e.Op = report.Delete
		}
		want = append(want, e)
	}
	if got := h.entries(t, report.Advisories, "", 100); !slices.Equal(got, want) {
		t.Errorf("entries\n%+v\nwant\n%+v", got, want)
	}
	got := h.lookup(t, report.Advisories, "resending", "dead", "dropped", "other", "nobody", "gone", "live", "pending")
	if !slices.Equal(got, want) {
		t.Errorf("looked up\n%+v\nwant\n%+v", got, want)
	}
	live := func() {
		t.Helper()
		for kind, want := range map[report.Kind]int{report.Advisories: 5, report.Cities: 1, report.SpecialReports: 0} {
			if n, err := h.Documents(t.Context(), kind); n != want || err != nil {
				t.Errorf("%d documents of %s that are not deleted, %v; want %d", n, kind, err, want)
			}
		}
	}
	live()
	h.reopen(t)
	live()
	if got := h.entries(t, report.Advisories, "", 100); !slices.Equal(got, want) {
		t.Errorf("after a restart\n%+v\nwant\n%+v", got, want)
	}
	if _, err := h.Documents(t.Context(), "countries"); err == nil {
		t.Error("Documents took an unknown kind")
	}
	if _, err := h.Entries(t.Context(), "countries", "", 1); err == nil {
		t.Error("Entries took an unknown kind")
	}
	if _, err := h.Lookup(t.Context(), "countries", []report.ID{"1"}); err == nil {
		t.Error("Lookup took an unknown kind")
	}
}

func testEntriesPages(t *testing.T, h *harness) {
	want := []report.ID{"\x01", "10", "9", "A", "Z", "a", "a\x00", "a\x00b", "aa", "z", "é", "日本", "𝄞"}
	for i := range want {
		h.append(t, advisory(string(want[(i*5)%len(want)]), "a"), city(fmt.Sprint(i), "", "a"))
	}
	checkPages(t, want, func(after report.ID, limit int) (ids []report.ID) {
		for _, e := range h.entries(t, report.Advisories, after, limit) {
			ids = append(ids, e.ID)
		}
		return ids
	})
	if got := h.entries(t, report.Advisories, "", 0); len(got) != 0 {
		t.Errorf("asked for none, got %v", got)
	}
}

// checkPages checks that list gives want in pages of any length.
func checkPages(t tester, want []report.ID, list func(after report.ID, limit int) []report.ID) {
	t.Helper()
	for _, limit := range []int{1, 2, 5, len(want), 100} {
		var got []report.ID
		for after := report.ID(""); ; {
			page := list(after, limit)
			if len(page) == 0 {
				break
			}
			if len(page) > limit {
				t.Fatalf("a page has %d, at most %d were asked for", len(page), limit)
			}
			got = append(got, page...)
			after = page[len(page)-1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("in pages of %d: %q, want %q", limit, got, want)
		}
	}
}

func testLookupMany(t *testing.T, h *harness) {
	var changes []report.Change
	ids := []report.ID{"unknown"}
	for i := range 1500 {
		changes = append(changes, advisory(number(i), "a"))
		ids = append(ids, report.ID(number(i)), report.ID("x"+number(i)))
	}
	stamps := h.append(t, changes...)
	got := h.lookup(t, report.Advisories, ids...)
	if len(got) != len(stamps) {
		t.Fatalf("%d are known, want %d", len(got), len(stamps))
	}
	for i, e := range got {
		if e.Stamp != stamps[i] || e.State != report.StatePending {
			t.Fatalf("entry %d is %+v, want %+v", i, e, stamps[i])
		}
	}
	if got := h.lookup(t, report.Advisories); len(got) != 0 {
		t.Errorf("looked up nothing, got %v", got)
	}
}
