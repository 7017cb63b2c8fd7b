package mappings

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
)

//go:embed boxes.tsv
var boxesFile string

// box is what lies between two parallels and two meridians.
type box struct{ south, west, north, east float64 }

func (b box) holds(p point) bool {
	return p.lat >= b.south && p.lat <= b.north && p.lon >= b.west && p.lon <= b.east
}

// parseBoxes reads the box of each country, by its ISO 3166 alpha-2 code.
func parseBoxes(text string) map[string]box {
	boxes := map[string]box{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) != 5 || fields[0] == "#" {
			continue
		}
		var edges [4]float64
		for i := range edges {
			edges[i], _ = strconv.ParseFloat(fields[i+1], 64) // a test reads the file
		}
		boxes[fields[0]] = box{edges[0], edges[1], edges[2], edges[3]}
	}
	return boxes
}

// inOrder returns the point that two numbers in either order mean. A number beyond 90 is
// the longitude. Otherwise the boxes of the record's countries decide; if they hold the
// point in both orders or in neither, the verdict is unsure.
func (x *extractor) inOrder(first, second float64) (point, verdict) {
	p, swapped := point{first, second}, point{second, first}
	switch {
	case p.verdict() != fits && swapped.verdict() != fits:
		return point{}, unfit
	case swapped.verdict() != fits:
		return p, fits
	case p.verdict() != fits:
		return swapped, fits
	case first == second:
		return p, fits
	}
	straight, crossed := x.inCountry(p), x.inCountry(swapped)
	switch {
	case straight && !crossed:
		return p, fits
	case crossed && !straight:
		return swapped, fits
	}
	return point{}, unsure
}

// inCountry reports whether the box of one of the record's countries holds a point.
func (x *extractor) inCountry(p point) bool {
	return slices.ContainsFunc(x.codes, func(code string) bool {
		b, known := x.boxes[code]
		return known && b.holds(p)
	})
}
