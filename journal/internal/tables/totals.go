package tables

import (
	"context"
	"strconv"
	"strings"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// total is a sum of a kind and its column.
type total struct {
	column string
	value  *int64
}

// fieldsOf returns the sums of t, the highest dropped version last.
func fieldsOf(t *commit.Totals) []total {
	return []total{
		{"indexes", &t.Indexes},
		{"deletes", &t.Deletes},
		{"indexed", &t.Indexed},
		{"deleted", &t.Deleted},
		{"superseded", &t.Superseded},
		{"dead", &t.Died},
		{"pending", &t.Pending},
		{"resending", &t.Resending},
		{"dead_letters", &t.DeadLetters},
		{"tombstones", &t.Tombstones},
		{"tombstones_dropped", &t.Dropped},
		{"history", &t.History},
		{"history_bytes", &t.HistoryBytes},
		{"history_dropped", &t.HistoryDropped},
		{"dropped_version", (*int64)(&t.DroppedVersion)},
	}
}

// EachTotal returns a list with an entry for each column of totals but the kind, in the order of
// [TotalsArgs]. In a form, @ is the name of the column and # its number, counted from first. highest is
// the form for the highest version dropped, which is no sum.
func EachTotal(form, highest string, first int) string {
	fields := fieldsOf(&commit.Totals{})
	list := make([]string, len(fields))
	for i, f := range fields {
		if i == len(fields)-1 {
			form = highest
		}
		list[i] = strings.NewReplacer("@", f.column, "#", strconv.Itoa(first+i)).Replace(form)
	}
	return strings.Join(list, ", ")
}

// TotalsArgs returns the values of the columns of totals.
func TotalsArgs(t commit.Totals) []any {
	var args []any
	for _, f := range fieldsOf(&t) {
		args = append(args, *f.value)
	}
	return args
}

// TotalsTargets returns where the columns of totals are scanned to.
func TotalsTargets(t *commit.Totals) (targets []any) {
	for _, f := range fieldsOf(t) {
		targets = append(targets, f.value)
	}
	return targets
}

// SumTotals selects the totals of each kind.
var SumTotals = `SELECT kind, ` + EachTotal("CAST(sum(@) AS bigint) AS @", "max(@) AS @", 0) + ` FROM totals GROUP BY kind`

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
		err := scan(append([]any{&k}, TotalsTargets(&t)...)...)
		if t != (commit.Totals{}) {
			all[k] = t
		}
		return err
	})
}
