package journaltest

import (
	"fmt"
	"testing"

	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/report"
)

// ResendInPieces checks that a journal marks the documents of a kind, of which one transaction
// looks at two, in several transactions as in one: each that is settled once, and no other.
func ResendInPieces(t *testing.T, j journal.Journal) {
	t.Helper()
	for i, id := range []string{"1", "10", "11", "2", "é", "z", "~", "1"} {
		_, err := j.Append(t.Context(), Put(id, fmt.Sprint(i)))
		require.NoError(t, err)
	}
	const documents, waiting = 7, 1
	changes, err := j.Claim(t.Context(), report.Advisories, documents-waiting, 1<<20)
	require.NoError(t, err)
	var settlements []report.Settlement
	for _, c := range changes {
		settlements = append(settlements, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed})
	}
	require.NoError(t, j.Settle(t.Context(), settlements))
	for _, want := range []int{documents - waiting, 0} {
		if n, err := report.ResendAll(t.Context(), j, report.Advisories); err != nil || n != want {
			t.Errorf("%d are marked, %v; want %d", n, err, want)
		}
	}
	if n, err := report.ResendAll(t.Context(), j, report.Cities); err != nil || n != 0 {
		t.Errorf("of a kind that has no documents %d are marked, %v", n, err)
	}
	for _, want := range []int{waiting, documents - waiting} { // the pending ones, then the others
		if changes, err = j.Claim(t.Context(), report.Advisories, 100, 1<<20); err != nil || len(changes) != want {
			t.Errorf("%d can be claimed, %v; want %d", len(changes), err, want)
		}
	}
}
