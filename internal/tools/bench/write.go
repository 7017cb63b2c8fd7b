package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// The table is between these lines of the page.
const (
	tableBegins = "<!-- the table of make bench -->"
	tableEnds   = "<!-- its end -->"
)

// writeInto replaces the table of a page by the results that are beside something: a limit or
// a target.
func writeInto(path, circumstances string, results []result) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the page for the table: %w", err)
	}
	before, rest, ok := strings.Cut(string(page), tableBegins+"\n")
	_, after, okToo := strings.Cut(rest, tableEnds)
	if !ok || !okToo {
		return fmt.Errorf("%s has no place for the table: lines %q and %q", path, tableBegins, tableEnds)
	}
	results = slices.DeleteFunc(slices.Clone(results), func(r result) bool { return r.Limit == nil && r.Target == nil })
	text := before + tableBegins + "\n\n" + circumstances + "\n\n" + table(results) + "\n" + tableEnds + after
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
