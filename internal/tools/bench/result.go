package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// result is one line of the table. Limit and Ratio are nil if there is nothing to compare
// with, Target and Met if there is no target.
type result struct {
	Measure string   `json:"measure"`
	Value   float64  `json:"value"`
	Unit    string   `json:"unit"`
	Limit   *float64 `json:"limit"`
	Ratio   *float64 `json:"ratio"` // of Value to Limit
	Target  *string  `json:"target"`
	Met     *bool    `json:"met"`
}

// told is a result without a target.
func told(measure string, value float64, unit string) result {
	return result{Measure: measure, Value: value, Unit: unit}
}

// beside adds the limit that the value is compared with.
func (r result) beside(limit float64) result {
	ratio := r.Value / limit
	r.Limit, r.Ratio = &limit, &ratio
	return r
}

func (r result) meets(target string, met bool) result {
	r.Target, r.Met = &target, &met
	return r
}

// atMost and atLeast are targets of the value, ratioAtMost and ratioAtLeast of its
// ratio to the limit.
func (r result) atMost(n float64) result  { return r.meets("≤ "+number(n)+" "+r.Unit, r.Value <= n) }
func (r result) atLeast(n float64) result { return r.meets("≥ "+number(n)+" "+r.Unit, r.Value >= n) }

func (r result) ratioAtMost(n float64) result {
	return r.meets("ratio ≤ "+number(n), *r.Ratio <= n)
}

func (r result) ratioAtLeast(n float64) result {
	return r.meets("ratio ≥ "+number(n), *r.Ratio >= n)
}

// number returns a value with its significant digits.
func number(v float64) string {
	switch {
	case v >= 100 || v == float64(int64(v)):
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// cells returns a row of the table. The limit is in the unit of the value.
func (r result) cells() []string {
	cells := []string{r.Measure, number(r.Value) + " " + r.Unit, "", "", "", ""}
	if r.Limit != nil {
		cells[2], cells[3] = number(*r.Limit), strconv.FormatFloat(*r.Ratio, 'f', 2, 64)
	}
	if r.Target != nil {
		cells[4], cells[5] = *r.Target, "no"
		if *r.Met {
			cells[5] = "yes"
		}
	}
	return cells
}

func heading() []string { return []string{"measure", "value", "limit", "ratio", "target", "met"} }

// writeJSON writes a result as one line of JSON.
func writeJSON(w io.Writer, r result) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", line)
	return err
}

// table returns results as a table in Markdown, aligned so that it reads well as text.
func table(results []result) string {
	rows := [][]string{heading()}
	for _, r := range results {
		rows = append(rows, r.cells())
	}
	widths := make([]int, len(heading()))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var text strings.Builder
	for n, row := range rows {
		for i, cell := range row {
			text.WriteString("| " + cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+1))
		}
		text.WriteString("|\n")
		if n == 0 {
			for _, width := range widths {
				text.WriteString("| " + strings.Repeat("-", width) + " ")
			}
			text.WriteString("|\n")
		}
	}
	return text.String()
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
