package receiver

import (
	"bytes"
	"slices"
	"strings"

	"riskdex/receiver/jsonscan"
)

// fewestCells is the number of cells from which on lists are the rows of a table.
const fewestCells = 3

// tableIn returns the records of a payload that is a table, as a list of objects: rows of values, whose
// names are in the one other list that has as many of them, or in the first row; nil if it is none.
func tableIn(body []byte) []byte {
	var lists [][]byte
	if listsWithin(body, maxEnvelopes, &lists); len(lists) == maxLists {
		return nil
	}
	for _, rows := range lists {
		width := rowWidth(rows)
		if width == 0 {
			continue
		}
		var names []string
		for _, l := range lists {
			if of := namesIn(l, width); of != nil && &l[0] != &rows[0] {
				if names != nil {
					return nil
				}
				names = of
			}
		}
		if names != nil {
			return objectsOf(rows, names, 0)
		}
		if names = namesIn(jsonscan.Element(rows, 0), width); names != nil && tellsNumbers(rows) {
			return objectsOf(rows, names, 1)
		}
	}
	return nil
}

// tellsNumbers reports whether the first of some rows has words where the others have digits.
func tellsNumbers(rows []byte) bool {
	first := cells(jsonscan.Element(rows, 0))
	digits := make([]bool, len(first))
	for i, cell := range first {
		digits[i] = !bytes.ContainsAny(cell, "0123456789")
	}
	n := 0
	for row := range jsonscan.Elements(rows) {
		if n++; n == 1 {
			continue
		}
		for i, cell := range cells(row) {
			digits[i] = digits[i] && bytes.ContainsAny(cell, "0123456789")
		}
	}
	return slices.Contains(digits, true)
}

// objectsOf returns rows as a list of objects, but for the first ones.
func objectsOf(rows []byte, names []string, skip int) []byte {
	out := []byte{'['}
	for row := range jsonscan.Elements(rows) {
		if skip--; skip >= 0 {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		for i, cell := range cells(row) {
			out = append(appendName(append(out, "{,"[min(i, 1)]), names[i]), cell...)
		}
		out = append(out, '}')
	}
	return append(out, ']')
}

// listsWithin appends the lists in a value, at any depth but within lists, up to maxLists.
func listsWithin(raw []byte, depth int, lists *[][]byte) {
	switch jsonscan.FirstByte(raw) {
	case '[':
		if !jsonscan.IsEmptyArray(raw) && len(*lists) < maxLists {
			*lists = append(*lists, raw)
		}
	case '{':
		if depth > 0 {
			for _, m := range jsonscan.Members(raw) {
				listsWithin(m.Value, depth-1, lists)
			}
		}
	}
}

// cells returns the values of a row: of a list of values, or of an object of such lists; nil if it is none.
func cells(row []byte) (all [][]byte) {
	switch jsonscan.FirstByte(row) {
	case '[':
		all = slices.Collect(jsonscan.Elements(row))
	case '{':
		for _, m := range jsonscan.Members(row) {
			if jsonscan.FirstByte(m.Value) != '[' {
				return nil
			}
			all = slices.AppendSeq(all, jsonscan.Elements(m.Value))
		}
	}
	if slices.ContainsFunc(all, func(cell []byte) bool { return jsonscan.FirstByte(cell) == '{' }) {
		return nil
	}
	return all
}

// rowWidth returns how many cells each row of a list has; 0 if it is not one of rows.
func rowWidth(rows []byte) (width int) {
	n := 0
	for row := range jsonscan.Elements(rows) {
		of := len(cells(row))
		if of < fewestCells || n > 0 && of != width {
			return 0
		}
		width = of
		n++
	}
	if n < 2 {
		return 0
	}
	return width
}

// namesIn returns the names of columns in a list of so many texts, or of objects of which a member names
// each; nil if there are none.
func namesIn(list []byte, width int) []string {
	var all [][]byte
	for element := range jsonscan.Elements(list) {
		if all = append(all, element); len(all) > width {
			return nil
		}
	}
	if len(all) != width {
		return nil
	}
	distinct := func(of func(raw []byte) []byte) (names []string) {
		for _, raw := range all {
			text, ok := quotedText(of(raw))
			if !ok || len(text) > maxHintName || strings.Trim(text, "0123456789.,-") == "" {
				return nil
			}
			names = append(names, text)
		}
		if !isDistinct(names) {
			return nil
		}
		return names
	}
	if names := distinct(func(raw []byte) []byte { return raw }); names != nil {
		return names
	}
	for _, m := range jsonscan.Members(all[0]) {
		if names := distinct(func(raw []byte) []byte { return jsonscan.Value(jsonscan.Members(raw), m.Name) }); names != nil {
			return names
		}
	}
	return nil
}
