package mappings

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"riskdex/internal/vocabulary"
)

// levelScale says what level each value of a column means.
type levelScale struct {
	levels map[string]int // by folded value
	worded bool
}

func (s levelScale) String() string {
	var all []string
	for _, label := range slices.SortedFunc(maps.Keys(s.levels), func(a, b string) int {
		return cmp.Or(s.levels[a]-s.levels[b], strings.Compare(a, b))
	}) {
		all = append(all, fmt.Sprintf("%s %d", label, s.levels[label]))
	}
	return strings.Join(all, ", ")
}

// begins reports whether labels are in the same order on both scales, from the same level on.
func (s levelScale) begins(of levelScale) bool {
	for a, level := range of.levels {
		if level == 1 && s.levels[a] != 1 {
			return false
		}
		for b, other := range of.levels {
			if level < other && s.levels[a] >= s.levels[b] {
				return false
			}
		}
	}
	return true
}

// scaleOf returns the scale that the values of a column are on together. rates says that they are ratings,
// of which numbers alone do not tell.
func (in *inference) scaleOf(c *column, rates bool) (levelScale, bool) {
	seen := map[string]int{}
	for _, v := range c.cells {
		seen[vocabulary.Fold(v.text)]++
	}
	value := func(label string) int {
		n, err := strconv.Atoi(label)
		if err != nil {
			return math.MinInt
		}
		return n
	}
	ascending := slices.SortedFunc(maps.Keys(seen), func(a, b string) int { return cmp.Or(cmp.Compare(value(a), value(b)), strings.Compare(a, b)) })
	for _, label := range ascending { // the next number may be rare
		before := strconv.Itoa(value(label) - 1)
		if isStray(seen[label], len(c.cells)) && len(seen) > 2 && (value(label) < 0 || seen[before] == 0) && !isOnScaleOf(label, seen) {
			delete(seen, label)
		}
	}
	labels := slices.Sorted(maps.Keys(seen))
	if ranks, ok := severities(labels); ok {
		if level := in.mapping.RiskLevels; len(level) > len(ranks) && !slices.ContainsFunc(labels, func(label string) bool { return level[label] == 0 }) {
			ranks = level // of which only some were seen here
		}
		return levelScale{ranks, true}, true
	}
	if known, ok := mostly(seen, len(c.cells)); ok { // such as Unknown among them
		if ranks, ok := severities(known); ok {
			return levelScale{ranks, true}, true
		}
	}
	if scale, ok := in.grades(c, seen); ok {
		return scale, true
	}
	numbers := map[string]int{}
	low, high := math.MaxInt, 0
	of := 0
	others := 0 // such as NA
	for _, label := range labels {
		n, top, ok := numberIn(label)
		if !ok {
			others += seen[label]
			continue
		}
		if n > 10 {
			return levelScale{}, false
		}
		numbers[label] = n
		low, high, of = min(low, n), max(high, n), max(of, top)
	}
	if len(numbers) == 0 || 10*others > len(c.cells) {
		return levelScale{}, false
	}
	if of == 0 {
		of = in.highestBeside(c)
	}
	if of > 0 {
		high = of
	}
	for _, usual := range []int{3, 4, 5, 6, 7, 10} {
		if high <= usual {
			if of == 0 && usual < 4 && in.records < 30 {
				continue
			}
			high = usual
			break
		}
	}
	low = min(low, 1)
	scale := levelScale{levels: map[string]int{}}
	for i := low; i <= high; i++ {
		level, ok := riskScale{low: low, high: high}.level(float64(i))
		if ok {
			scale.levels[strconv.Itoa(i)] = level
		}
	}
	for label, n := range numbers {
		scale.levels[label] = scale.levels[strconv.Itoa(n)]
	}
	if high > 5 && !rates && c.of.named&in.bits("risk level rating severity") == 0 {
		return levelScale{}, false
	}
	return scale, true
}

// grades returns the scale of letters, such as A to E: A is the lowest risk, unless the ratings of threats in
// the same records fall from it on.
func (in *inference) grades(c *column, seen map[string]int) (levelScale, bool) {
	const last = 'g'
	if len(seen) < 3 || c.of.named&in.bits("level rating risk score severity") == 0 && c.of.means&in.bits("level rating risk severity") == 0 {
		return levelScale{}, false
	}
	high, graded := 0, 0
	for label, n := range seen {
		if len(label) == 1 && label[0] >= 'a' && label[0] <= last {
			high, graded = max(high, int(label[0]-'a')), graded+n
		}
	}
	if !nearlyAll(graded, len(c.cells)) {
		return levelScale{}, false
	}
	scale := levelScale{levels: map[string]int{}, worded: true}
	high = max(high, 3)
	falls := in.falls(c)
	for i := range high + 1 {
		of := i
		if falls {
			of = high - i
		}
		scale.levels[string(rune('a'+i))], _ = riskScale{low: 0, high: high}.level(float64(of))
	}
	return scale, true
}

// falls reports whether the ratings of threats are lower in records in which a column has a later letter.
func (in *inference) falls(c *column) bool {
	rated, n := make([]int, in.records), make([]int, in.records)
	for _, of := range in.scalars {
		if of == c || of.of.distinct > 12 || in.threatOf(of) < 0 {
			continue
		}
		ranks, ok := severities(slices.Sorted(maps.Keys(labelsOf(of))))
		for _, v := range of.cells {
			if level, err := strconv.Atoi(v.text); err == nil && level <= 10 {
				rated[v.record], n[v.record] = rated[v.record]+level, n[v.record]+1
			} else if level := ranks[vocabulary.Fold(v.text)]; ok && level > 0 {
				rated[v.record], n[v.record] = rated[v.record]+level, n[v.record]+1
			}
		}
	}
	up, down := 0, 0
	for _, a := range c.cells {
		for _, b := range c.cells {
			if n[a.record] == 0 || n[b.record] == 0 || vocabulary.Fold(a.text) >= vocabulary.Fold(b.text) {
				continue
			}
			switch x, y := rated[a.record]*n[b.record], rated[b.record]*n[a.record]; {
			case x < y:
				up++
			case x > y:
				down++
			}
		}
	}
	return down > 2*up
}

func labelsOf(c *column) map[string]bool {
	all := map[string]bool{}
	for _, v := range c.cells {
		all[vocabulary.Fold(v.text)] = true
	}
	return all
}

// isOnScaleOf reports whether a label is on the scale that most others are on: the highest level may be rare.
func isOnScaleOf(label string, others map[string]int) bool {
	best, is := 0, false
	for i := range severity {
		n := 0
		for other := range others {
			if _, ok := severity[i].placeOf(other); ok {
				n++
			}
		}
		if n > best {
			best = n
			_, is = severity[i].placeOf(label)
		}
	}
	return is && best > 2
}

// mostly returns the labels of the scale that has most of them, if they are at least three and nearly all
// that there are.
func mostly(seen map[string]int, all int) (known []string, ok bool) {
	best := 0
	for i := range severity {
		n := 0
		var labels []string
		for _, label := range slices.Sorted(maps.Keys(seen)) {
			if _, ok := severity[i].placeOf(label); ok {
				labels = append(labels, label)
				n += seen[label]
			}
		}
		if n > best {
			best, known = n, labels
		}
	}
	return known, len(known) >= 3 && 100*best >= 85*all
}

// numberIn returns the only number in a label, such as Level 3, 3/5 or three stars.
func numberIn(label string) (n, of int, ok bool) {
	if stars := strings.Count(label, "★"); stars > 0 {
		return stars, stars + strings.Count(label, "☆"), true
	}
	if f, err := strconv.ParseFloat(label, 64); err == nil {
		return int(f), 0, f == math.Trunc(f) && f >= 0 && f <= maxScale
	}
	var all []int
	for word := range strings.FieldsFuncSeq(label, func(r rune) bool { return !unicode.IsDigit(r) }) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return 0, 0, false
		}
		all = append(all, n)
	}
	switch {
	case len(all) == 1:
		return all[0], 0, true
	case len(all) == 2 && all[1] >= all[0] && all[1] >= 2 && all[1] <= 10:
		return all[0], all[1], true
	}
	return 0, 0, false
}
