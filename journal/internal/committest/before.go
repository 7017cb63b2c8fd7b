package committest

import (
	"fmt"
	"strings"
	"testing"

	"riskdex/internal/require"
	"riskdex/journal"
	"riskdex/report"
)

// CitiesOfBefore checks that a city that was known by its code alone is adopted in the journal of an
// older riskdex, which did not record how cities came by their ids. old changes the closed journal
// to one of that riskdex.
func CitiesOfBefore(t *testing.T, open func() journal.Journal, old func()) {
	j := open()
	stated := func(id, code string) report.Delivery {
		return report.Delivery{Changes: []report.Change{{
			Key: report.Key{Kind: report.Cities, ID: report.ID(id)}, Op: report.Index, Code: code, OwnID: report.ID(id), Body: []byte("{}"),
		}}}
	}
	for _, d := range []report.Delivery{stated("LON", "LON"), stated("130", "LON"), stated("7", "PAR")} {
		_, err := j.Append(t.Context(), d)
		require.NoError(t, err)
	}
	require.NoError(t, j.Close())
	old()
	j = open()
	_, err := j.Append(t.Context(), stated("130", "LON"))
	require.NoError(t, err)
	entries, err := j.Entries(t.Context(), report.Cities, "", 10)
	require.NoError(t, err)
	var got strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&got, "%s %s, ", e.Op, e.ID)
	}
	if got.String() != "index 130, index 7, delete LON, " {
		t.Errorf("the cities are %s, want them adopted", &got)
	}
}
