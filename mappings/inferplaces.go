package mappings

import (
	"maps"
	"slices"
	"strings"

	"riskdex/mappings/gazetteer"
	"riskdex/report"
)

// relativeTo returns a pattern of a position from an outer column.
func relativeTo(p pattern, outer *column) pattern {
	from := len(outer.pointer())
	r := patternOf(p.text[from:])
	r.pairs = p.pairs
	if p.lon != nil {
		lon := patternOf(p.lon.text[from:])
		r.lon = &lon
	}
	return r
}

func (in *inference) placesOf(all []located) {
	lists := map[*column]located{}
	for _, l := range all {
		for of := l.column.parent; of != nil; of = of.parent {
			if of.name == "*" || of.name == members {
				if _, ok := lists[of]; !ok {
					lists[of] = l
				}
				break
			}
		}
	}
	var each []pattern
	var name []pattern
	var at []pattern
	for _, list := range slices.SortedFunc(maps.Keys(lists), byPointer) {
		l := lists[list]
		best := bestOf(in.scalars, func(c *column) (score float64, ok bool) {
			if !c.isIn(list) || c.of.letters < 0.9 || c.of.length > 80 || c.of.markup > 0.1 || c.keyed || strings.Contains(string(c.within(list)), "*") || in.textPoint(c) > 0.3 {
				return 0, false
			}
			own := c.of.named
			score = shareOf(c.of.distinct, c.of.n) + shareOf(c.of.n, list.objects)
			if own&in.bits("name title label") != 0 {
				score++
			}
			if own&in.bits("category id code link text summary") != 0 {
				score -= 0.5
			}
			return score + 0.3*c.shareThat(func(s string) bool { return strings.ContainsRune(s, ' ') }) - 0.1*float64(c.of.unknown), true
		})
		if best == nil {
			continue
		}
		each, name, at = append(each, list.pattern()), append(name, patternOf(best.within(list))), append(at, relativeTo(l.from, list))
		in.note("places", best, "names with positions near the report's")
	}
	for _, c := range in.scalars { // texts with a name and a position
		if in.taken[c] != "" || c.of.letters < 0.9 || c.of.numbers > 0 {
			continue
		}
		for _, order := range []pairOrder{latFirst, lonFirst} {
			points := map[[2]int]point{}
			n := 0
			for _, v := range c.cells {
				if _, first, second, ok := cutPosition(v.text); ok {
					n++
					if order == lonFirst {
						first, second = second, first
					}
					points[v.elementOf()] = point{first, second}
				}
			}
			near, known, elsewhere, _ := in.nearness(points)
			if n < 3 || 3*n < len(c.cells) || known == 0 || 10*near < 6*known || in.records >= 10 && 10*(near-elsewhere) < 3*known {
				continue
			}
			self := pattern{pairs: order}
			each, name, at = append(each, c.pattern()), append(name, pattern{}), append(at, self)
			in.note("places", c, "names, %d of them with positions near the report's", n)
			break
		}
	}
	var listed []*column           // each place once, though it has names in several languages
	for _, c := range in.scalars { // names of cities in the countries that a report is about
		if in.kind == report.Cities || in.taken[c] != "" || c.of.letters < 0.9 || c.of.length > 40 || in.isForeign(c) || c.isSlug() || in.isOfPlace(c) || slices.ContainsFunc(each, func(p pattern) bool { return p.text == c.pointer() }) {
			continue
		}
		known, here := 0, 0
		for _, v := range c.cells {
			if cities := in.citiesCalled(v.text); cities != nil && in.countryOf(v.text) == "" {
				known++
				if slices.ContainsFunc(cities, func(city *gazetteer.City) bool { return in.nations[v.record][city.Country] }) {
					here++
				}
			}
		}
		if here < 3 || 10*known < 7*len(c.cells) || 10*here < 7*known || slices.ContainsFunc(listed, func(of *column) bool { return in.sameCities(of, c) }) {
			continue
		}
		listed = append(listed, c)
		each, name, at = append(each, c.pattern()), append(name, pattern{}), append(at, pattern{})
		in.note("places", c, "%d of %d are cities where the report is", here, len(c.cells))
	}
	if each == nil {
		return
	}
	in.mapping.Places.Each, in.mapping.Places.Name = each, name
	in.mapping.Places.Location = at
}

// sameCities reports whether two columns of the entries of one list mostly name the same cities, as in two languages.
func (in *inference) sameCities(a, b *column) bool {
	if a.entry() == nil || a.entry() != b.entry() {
		return false
	}
	of := map[[2]int][]*gazetteer.City{}
	for _, v := range a.cells {
		of[v.elementOf()] = in.citiesCalled(v.text)
	}
	same, both := 0, 0
	for _, v := range b.cells {
		if cities := of[v.elementOf()]; cities != nil {
			both++
			if slices.ContainsFunc(in.citiesCalled(v.text), func(city *gazetteer.City) bool { return slices.Contains(cities, city) }) {
				same++
			}
		}
	}
	return 2*same > both
}
