package mappings

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"riskdex/internal/vocabulary"
)

// highestBeside returns the one number that stands beside nearly all values of a column of small numbers, and
// is not smaller than any of them, as in {"degree": 2, "of": 4}; else 0.
func (in *inference) highestBeside(c *column) int {
	if c.of.whole < 0.9 || c.of.distinct < 2 {
		return 0
	}
	high := 0
	seen, _ := c.usual()
	for text := range seen {
		n, _ := strconv.Atoi(text)
		high = max(high, n)
	}
	for _, of := range c.parent.children {
		if of == c || of.of.distinct == 0 || of.of.distinct > 3 || of.of.whole < 0.9 || !nearlyAll(len(of.cells), max(len(of.cells), len(c.cells))) || len(c.parent.children) > 6 && !beginAlike(of.folded, c.folded) {
			continue
		}
		seen, most := of.usual()
		if n, err := strconv.Atoi(most); err == nil && 20*seen[most] >= 19*len(of.cells) && n >= high && n >= 3 && n <= 10 {
			return n
		}
	}
	return 0
}

// beginAlike reports whether two names have most of the shorter one in common, as levelno and levelmax do.
func beginAlike(a, b string) bool {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n >= 4 && 2*n > min(len(a), len(b))
}

// orderBeside returns the scale of labels beside which a number says the order of each, in equal steps, as
// {"name": "Watch", "weight": 10} does, or a colour from green to red.
func (in *inference) orderBeside(c *column) (scale levelScale, coloured, ok bool) {
	if c.of.letters < 0.9 || c.of.distinct < 3 || c.of.distinct > 7 {
		return levelScale{}, false, false
	}
	if _, most := c.usual(); strings.HasPrefix(most, "#") {
		return levelScale{}, false, false
	}
	for _, of := range c.parent.children {
		if of == c || of.of.distinct != c.of.distinct || len(of.cells) < len(c.cells)*9/10 {
			continue
		}
		place, coloured := coloursOf(of)
		if !coloured {
			place = numbersIn(of)
		}
		if !coloured && of.of.whole < 0.99 || !in.follows(of, c) || !in.follows(c, of) {
			continue
		}
		order := map[string]int{}
		labels, _ := c.usual()
		with := in.beside(c, of)
		for label := range labels {
			if n, known := place[with[label]]; known {
				order[vocabulary.Fold(label)] = n
			}
		}
		numbers := slices.Compact(slices.Sorted(maps.Values(order)))
		if len(numbers) < 3 {
			continue
		}
		step, even := numbers[1]-numbers[0], true
		for i := range numbers[1:] {
			even = even && numbers[i+1]-numbers[i] == step
		}
		low := numbers[0]
		if !even || low != 0 && low != step && low != 1 {
			continue
		}
		scale := levelScale{levels: map[string]int{}, worded: true}
		for label, n := range order {
			scale.levels[label], _ = riskScale{low: 0, high: len(numbers) - 1}.level(float64((n - low) / step))
		}
		return scale, coloured, true
	}
	return levelScale{}, false, false
}

// numbersIn returns the whole numbers among the values of a column.
func numbersIn(c *column) map[string]int {
	all := map[string]int{}
	seen, _ := c.usual()
	for text := range seen {
		if n, err := strconv.Atoi(text); err == nil {
			all[text] = n
		}
	}
	return all
}

// coloursOf returns the order of the colours in a column, such as #4caf50, from green over yellow to red,
// lighter ones first; false if it has others.
func coloursOf(c *column) (place map[string]int, ok bool) {
	const greenest = 170 // degrees of hue
	rank := map[string]float64{}
	seen, _ := c.usual()
	for text := range seen {
		hex, isHex := strings.CutPrefix(text, "#")
		n, err := strconv.ParseUint(hex, 16, 32)
		if !isHex || err != nil || len(hex) != 6 {
			return nil, false
		}
		r, g, b := float64(n>>16), float64(n>>8&255), float64(n&255)
		high, low := max(r, g, b), min(r, g, b)
		hue := 0.0
		switch {
		case high == low || high == b:
			return nil, false
		case high == r:
			hue = 60 * (g - b) / (high - low)
		default:
			hue = 60 * (2 + (b-r)/(high-low))
		}
		if hue > greenest {
			return nil, false
		}
		rank[text] = -hue - high/255
	}
	place = map[string]int{}
	for i, colour := range slices.SortedFunc(maps.Keys(rank), func(a, b string) int { return cmp.Compare(rank[a], rank[b]) }) {
		place[colour] = i
	}
	return place, true
}

// byRecord returns the last value that each record has in a column.
func (c *column) byRecord() map[int]string {
	all := map[int]string{}
	for _, v := range c.cells {
		all[v.record] = v.text
	}
	return all
}

// beside returns for each value of a column the one of another column that it mostly stands beside.
func (in *inference) beside(a, b *column) map[string]string {
	of := b.byRecord()
	with, times := map[string]string{}, map[[2]string]int{}
	for _, v := range a.cells {
		other, ok := of[v.record]
		if !ok {
			continue
		}
		times[[2]string{v.text, other}]++
		n, most := times[[2]string{v.text, other}], times[[2]string{v.text, with[v.text]}]
		if was, again := with[v.text]; !again || n > most || n == most && other < was {
			with[v.text] = other
		}
	}
	return with
}

// follows reports whether each value of one column stands beside one value of another.
func (in *inference) follows(a, b *column) bool {
	of := b.byRecord()
	with, same, n := in.beside(a, b), 0, 0
	for _, v := range a.cells {
		if other, ok := of[v.record]; ok {
			n++
			if with[v.text] == other {
				same++
			}
		}
	}
	return n > 0 && 20*same >= 19*n
}
