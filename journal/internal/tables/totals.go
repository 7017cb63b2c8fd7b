package tables

import (
	"context"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// TotalsFields are the sums of a kind, and the highest version of a tombstone that was dropped as the last.
func TotalsFields(t *commit.Totals) Fields {
	return Fields{
		{"indexes", (*Int)(&t.Indexes)},
		{"deletes", (*Int)(&t.Deletes)},
		{"indexed", (*Int)(&t.Indexed)},
		{"deleted", (*Int)(&t.Deleted)},
		{"superseded", (*Int)(&t.Superseded)},
		{"dead", (*Int)(&t.Died)},
		{"pending", (*Int)(&t.Pending)},
		{"resending", (*Int)(&t.Resending)},
		{"dead_letters", (*Int)(&t.DeadLetters)},
		{"tombstones", (*Int)(&t.Tombstones)},
		{"tombstones_dropped", (*Int)(&t.Dropped)},
		{"history", (*Int)(&t.History)},
		{"history_bytes", (*Int)(&t.HistoryBytes)},
		{"history_dropped", (*Int)(&t.HistoryDropped)},
		{"bytes", (*Int)(&t.Bytes)},
		{"dropped_version", (*Int)(&t.DroppedVersion)},
	}
}

// EachTotal returns a list of TotalsFields in a form, the last in another.
func EachTotal(form, highest string) string {
	f := TotalsFields(&commit.Totals{})
	last := len(f) - 1
	return f[:last].List(form) + ", " + f[last:].List(highest)
}

// SumTotals selects the totals of each kind.
var SumTotals = `SELECT kind, ` + EachTotal("CAST(sum(@) AS bigint) AS @", "max(@) AS @") + ` FROM totals GROUP BY kind`

// ReadTotals reads the totals of all kinds, also of those of which there was nothing yet.
func ReadTotals(ctx context.Context, q Querier) (map[report.Kind]commit.Totals, error) {
	all := map[report.Kind]commit.Totals{}
	for _, k := range report.AllKinds() {
		all[k] = commit.Totals{}
	}
	rows, err := q.QueryContext(ctx, SumTotals)
	return all, ForRows(rows, err, func(scan func(...any) error) error {
		var k report.Kind
		var t commit.Totals
		err := scan(append([]any{&k}, TotalsFields(&t).Targets()...)...)
		if t != (commit.Totals{}) {
			all[k] = t
		}
		return err
	})
}
