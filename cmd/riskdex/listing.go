package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// listing prints items: as a table with their number below it or, for programs, as one JSON
// object per line, as they come.
type listing struct {
	out   io.Writer
	lines *json.Encoder // nil for a table
	table *table
	total int
}

func newListing(out io.Writer, asJSON bool, columns ...string) *listing {
	l := &listing{out: out, table: newTable(columns...)}
	if asJSON {
		l.lines = json.NewEncoder(out)
	}
	return l
}

// add adds an item. cells are its row in the table.
func (l *listing) add(item any, cells ...string) error {
	if l.lines != nil {
		return l.lines.Encode(item)
	}
	l.total++
	l.table.add(cells...)
	return nil
}

// end prints the table, whose widths are known only now, and the number of items.
func (l *listing) end(one, many string) {
	if l.lines != nil {
		return
	}
	if l.total > 0 {
		l.table.print(l.out)
	}
	fmt.Fprintln(l.out, count(l.total, one, many))
}
