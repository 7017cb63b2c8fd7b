package transfer_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"riskdex/journal/internal/tables"
	"riskdex/journal/transfer"
)

// tampering is a target that writes something else than it is told to.
type tampering struct {
	transfer.Target
	head   func(*tables.Head)
	change func(*tables.Table, tables.Row) tables.Row // of the first row of a table; nil leaves it out
}

func (t *tampering) Insert(ctx context.Context, table *tables.Table, rows iter.Seq2[tables.Row, error]) error {
	first := t.change != nil
	return t.Target.Insert(ctx, table, func(yield func(tables.Row, error) bool) {
		for r, err := range rows {
			if first && err == nil {
				first = false
				if r = t.change(table, slices.Clone(r)); r == nil {
					continue
				}
			}
			if !yield(r, err) {
				return
			}
		}
	})
}

func (t *tampering) Finish(ctx context.Context, head tables.Head) error {
	if t.head != nil {
		t.head(&head)
	}
	return t.Target.Finish(ctx, head)
}

// another returns a value of a column that is not v.
func another(c tables.Column, v any) any {
	switch v := v.(type) {
	case int64:
		if c.Type == "small" {
			return v + 1
		}
		return v + 1e9 // no key has it
	case bool:
		return !v
	case string:
		return v + "x"
	default:
		return append(slices.Clone(v.([]byte)), 'x')
	}
}

// TestCopyThatDiffers: whichever part of a copy differs, it is noticed, and the copy is
// not kept.
func TestCopyThatDiffers(t *testing.T) {
	type tampered struct {
		tampering
		want []string
	}
	from := filled(t, filepath.Join(t.TempDir(), "journal.db"))
	cases := map[string]tampered{
		"the line": {tampering{head: func(h *tables.Head) { h.Line = "another" }}, []string{"another line"}},
		"a note":   {tampering{head: func(h *tables.Head) { h.Notes = nil }}, []string{"other notes"}},
		"loss":     {tampering{head: func(h *tables.Head) { h.Loss.Until = 1 }}, []string{"what is lost"}},
		"totals": {tampering{head: func(h *tables.Head) {
			h.Totals = maps.Clone(h.Totals)
			for k, v := range h.Totals {
				v.Superseded++
				h.Totals[k] = v
			}
		}}, []string{"the totals are"}},
		"last version": {tampering{head: func(h *tables.Head) { h.Last-- }}, []string{"a second time"}},
		"last refusal": {tampering{head: func(h *tables.Head) { h.LastRefusal-- }}, []string{"a second time"}},
	}
	// Each case changes one column of each table that has as many.
	lost := tampered{tampering: tampering{change: func(*tables.Table, tables.Row) tables.Row { return nil }}}
	columns := 0
	for _, table := range tables.Dumped {
		lost.want = append(lost.want, table.Many+" of")
		columns += len(table.Columns)
		for i := range table.Columns {
			name := fmt.Sprint("column ", i)
			c := cases[name]
			c.want = append(c.want, "the "+table.Many+" have another checksum")
			c.change = func(t *tables.Table, r tables.Row) tables.Row {
				if i < len(r) {
					r[i] = another(t.Columns[i], r[i])
				}
				return r
			}
			cases[name] = c
		}
	}
	cases["lost rows"] = lost
	if columns != 17+15+5+20 {
		t.Errorf("%d columns were changed, want each of the tables that both engines have", columns)
	}
	for engine, where := range engines() {
		for name, c := range cases {
			t.Run(engine+", "+name, func(t *testing.T) {
				to := where(t)
				target := endpoint(to)
				target.OpenTarget = func(ctx context.Context) (_ transfer.Target, err error) {
					c.Target, err = endpoint(to).OpenTarget(ctx)
					return &c.tampering, err
				}
				_, err := transfer.Copy(t.Context(), endpoint(from), target, nil)
				for _, want := range append(c.want, "check the copy") {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("error %v, want one with %q", err, want)
					}
				}
				nothingAt(t, to)
			})
		}
	}
}
