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
// names are in the one other list that has as many of them, or in the first row; nil if it is none. beside is
// what else is in the payload.
func tableIn(body []byte) (list []byte, beside []jsonscan.Member) {
	lists := []jsonscan.Member{{Value: body}}
	if jsonscan.FirstByte(body) == '{' {
		lists = nil
		if listsWithin(jsonscan.Members(body), maxEnvelopes, &lists, &beside); len(lists) == maxLists {
			return nil, nil
		}
	}
	for i, rows := range lists {
		width := rowWidth(rows.Value)
		if width == 0 {
			continue
		}
		var names []string
		at := i
		for j, l := range lists {
			if of := namesIn(l.Value, width); of != nil && j != i {
				if names != nil {
					return nil, nil
				}
				names, at = of, j
			}
		}
		for j, l := range lists {
			if j != i && j != at {
				beside = append(beside, l)
			}
		}
		if names != nil {
			return objectsOf(rows.Value, names, 0), beside
		}
		if names = namesIn(jsonscan.Element(rows.Value, 0), width); names != nil && tellsNumbers(rows.Value) {
			return objectsOf(rows.Value, names, 1), beside
		}
		return nil, nil
	}
	return nil, nil
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

// listsWithin appends the lists in an object, at any depth but within lists and what is not content by its
// name, up to maxLists, and the other values.
func listsWithin(object []jsonscan.Member, depth int, lists, others *[]jsonscan.Member) {
	for _, m := range object {
		switch c := jsonscan.FirstByte(m.Value); {
		case c == '[' && len(*lists) < maxLists:
			if !jsonscan.IsEmptyArray(m.Value) {
				*lists = append(*lists, m)
			}
		case c == '{' && depth > 0:
			listsWithin(jsonscan.Members(m.Value), depth-1, lists, others)
		default:
			*others = append(*others, m)
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
		if of < fewestCells || of > maxNamesRead || n > 0 && of != width {
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
	const mostNames = 10 // members that may name a column
	members := jsonscan.Members(all[0])
	for _, m := range members[:min(len(members), mostNames)] {
		if names := distinct(func(raw []byte) []byte { return jsonscan.Value(jsonscan.Members(raw), m.Name) }); names != nil {
			return names
		}
	}
	return nil
}
