package committest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"riskdex/internal/require"
	"riskdex/journal"
	"riskdex/report"
)

// KeptJournal checks a journal that an older riskdex has written, and that this one has opened.
// testdata/README.md of each engine says what was delivered to it.
func KeptJournal(t *testing.T, j journal.Journal) {
	t.Helper()
	ctx := t.Context()
	same := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
		}
	}

	var states, records, letters, versions strings.Builder
	stamps := map[report.Version]report.ID{}
	for _, kind := range report.Kinds() {
		entries, err := j.Entries(ctx, kind, "", 100)
		require.NoError(t, err)
		for _, e := range entries {
			fmt.Fprintln(&states, kind, e.ID, e.Op, e.State)
			stamps[e.Version] = e.ID
		}
		for r, err := range j.Records(ctx, kind) {
			require.NoError(t, err)
			fmt.Fprintf(&records, "%s %s %q %s\n", kind, r.ID, r.Code, r.Body)
		}
		dead, err := j.DeadLetters(ctx, kind, "", 100)
		require.NoError(t, err)
		for _, l := range dead {
			l, err := j.DeadLetter(ctx, l.Key)
			require.NoError(t, err)
			fmt.Fprintf(&letters, "%s %s %s %s\n", kind, l.ID, l.ErrorType, l.Body)
		}
	}
	same("states", states.String(), `cities 1 index settled
cities 2 index pending
cities 3 delete settled
cities 4 index settled
cities ROM index settled
cities bad index dead
advisories a delete pending
advisories b delete settled
special-reports s index settled
special-reports t index pending
`)
	same("records", records.String(), `cities 1 "LON" {"id":1,"code":"LON","title":"London"}
cities 2 "PAR" {"id":2,"code":"PAR","title":"Paris, newer"}
cities 4 "OSL" {"id":4,"code":"OSL","title":"Oslo"}
cities ROM "ROM" {"code":"ROM","title":"Rome"}
cities bad "" {"id":"bad","title":"POISON"}
special-reports s "" {"id":"s","title":"Elections"}
special-reports t "" {"id":"t","title":"Strikes"}
`)
	same("dead letters", letters.String(), `cities bad document_parsing_exception {"id":"bad","title":"POISON"}`+"\n")
	last := report.Version(0)
	for _, v := range slices.Sorted(maps.Keys(stamps)) {
		fmt.Fprint(&versions, stamps[v], " ")
		last = v
	}
	same("documents in the order of their versions", versions.String(), "1 ROM bad s 4 3 b 2 a t ")

	var refusals strings.Builder
	list, err := j.Refusals(ctx, 0, 100)
	require.NoError(t, err)
	for _, r := range list {
		r, err := j.Refusal(ctx, r.Seq)
		require.NoError(t, err)
		fmt.Fprintf(&refusals, "%s %s, record %d: %s\n", r.Method, r.Path, r.Position, r.Body)
	}
	same("refusals", refusals.String(), `POST /cities, record 1: {"title":"without an id"}
PUT /advisories/x, record -1: {
`)

	var totals strings.Builder
	stats, err := j.Stats(ctx)
	require.NoError(t, err)
	for _, kind := range report.Kinds() {
		k := stats.Kinds[kind]
		fmt.Fprintf(&totals, "%s: %d puts, %d deletes, %d pending, %d dead, %d tombstones\n",
			kind, k.Accepted[report.Index], k.Accepted[report.Delete], k.Pending, k.DeadLetters, k.Tombstones)
	}
	same("totals", totals.String(), `cities: 8 puts, 1 deletes, 1 pending, 1 dead, 1 tombstones
advisories: 1 puts, 2 deletes, 1 pending, 0 dead, 2 tombstones
special-reports: 2 puts, 0 deletes, 1 pending, 0 dead, 0 tombstones
`)

	// It goes on where the older one stopped.
	stamped, err := j.Append(ctx, report.Delivery{Changes: []report.Change{
		{Key: report.Key{Kind: report.Cities, ID: "LON"}, Op: report.Delete},
		{Key: report.Key{Kind: report.Cities, ID: "7"}, Op: report.Index, Code: "ROM", OwnID: "7", Body: []byte(`{"id":7,"code":"ROM"}`)},
	}})
	require.NoError(t, err)
	if stamped[0].ID != "1" || stamped[0].Version <= last || stamped[1].Version <= last {
		t.Errorf("the next delivery is stamped %+v, want the city 1, and versions after %d", stamped, last)
	}
	for kind, want := range map[report.Kind]string{report.Cities: "1 delete, 2 index, 7 index, ROM delete, ", report.Advisories: "a delete, ", report.SpecialReports: "t index, "} {
		var claimed strings.Builder
		changes, err := j.Claim(ctx, kind, 100, 1<<20)
		require.NoError(t, err)
		slices.SortFunc(changes, func(a, b report.Change) int { return strings.Compare(string(a.ID), string(b.ID)) })
		for _, c := range changes {
			fmt.Fprintf(&claimed, "%s %s, ", c.ID, c.Op)
		}
		same(string(kind)+" that are given out", claimed.String(), want)
	}
}
