package mappings

import (
	"slices"
	"strings"
)

// pair is two columns of numbers that may be a position.
type pair struct{ lat, lon *column }

// positions returns the columns that may be positions: pairs of numbers in one object, and columns of
// texts or lists with two numbers.
func (in *inference) positions() (pairs []pair, single []*column) {
	byParent := map[*column][]*column{}
	var parents []*column
	for _, c := range in.scalars {
		switch {
		case c.of.degrees > 0.9 && c.of.whole < 0.9:
			outer := c
			for outer.isWrapped() { // in {"y": {"number": 3}}
				outer = outer.parent
			}
			parent := outer.parent
			if strings.HasPrefix(parent.name, "[") { // one entry has the latitude, another the longitude
				parent = parent.parent
			}
			if byParent[parent] == nil {
				parents = append(parents, parent)
			}
			byParent[parent] = append(byParent[parent], c)
		case in.textPoint(c) > 0.8:
			single = append(single, c)
		}
	}
	const most = 12
	for _, parent := range parents {
		of := byParent[parent]
		of = of[:min(len(of), most)]
		for _, lat := range of {
			for _, lon := range of {
				if lat != lon {
					pairs = append(pairs, pair{lat, lon})
				}
			}
		}
	}
	return pairs, single
}

// textPoint returns the share of values that have two numbers.
func (in *inference) textPoint(c *column) float64 {
	return c.shareThat(func(s string) bool { _, _, ok := twoIn(s); return ok })
}

// elementOf returns what tells two values of one element of a list, or of one record.
func (v cell) elementOf() [2]int { return [2]int{v.record, v.element} }

// nearness returns how many points of a pair are where their records are, of those for which it is
// known, and how many there are; and the same for the records of others.
func (in *inference) nearness(points map[[2]int]point) (near, known, elsewhere, all int) {
	for at, p := range points {
		if p.verdict() != fits || p == (point{}) {
			continue
		}
		all++
		is, ok := in.here(at[0], p)
		if !ok {
			continue
		}
		known++
		if is {
			near++
		}
		if is, _ := in.here((at[0]+11)%in.records, p); is {
			elsewhere++
		}
	}
	return near, known, elsewhere, all
}

func (in *inference) pointsOf(p pair) map[[2]int]point {
	lats, points := map[[2]int]float64{}, map[[2]int]point{}
	for _, v := range p.lat.cells {
		if n, ok := degreesOf(v.text); ok {
			lats[v.elementOf()] = n
		}
	}
	for _, v := range p.lon.cells {
		lat, ok := lats[v.elementOf()]
		if n, is := degreesOf(v.text); is && ok {
			points[v.elementOf()] = point{lat, n}
		}
	}
	return points
}

func (in *inference) pointsIn(c *column, swapped bool) map[[2]int]point {
	points := map[[2]int]point{}
	for _, v := range c.cells {
		if first, second, ok := twoIn(v.text); ok {
			if swapped {
				first, second = second, first
			}
			points[v.elementOf()] = point{first, second}
		}
	}
	return points
}

// located is a column, or two, that are positions.
type located struct {
	column *column // or that of the latitude
	from   pattern
	share  float64 // of points that are where their records are
	n      int
	plain  bool
}

// located returns the columns that are positions where the records are.
func (in *inference) located() (found []located) {
	judge := func(c *column, points map[[2]int]point, from pattern) {
		near, known, elsewhere, all := in.nearness(points)
		if all == 0 || known < 1 || 4*known < all && in.records > 10 {
			return
		}
		share := shareOf(near, known)
		if share < 0.6 || in.records >= 10 && share-float64(elsewhere)/float64(known) < 0.3 {
			return
		}
		found = append(found, located{c, from, share, all, c.isPlain() && !c.isOfSeveral()})
	}
	pairs, single := in.positions()
	for _, p := range pairs {
		lat, lon := p.lat.pattern(), p.lon.pattern()
		lat.lon = &lon
		judge(p.lat, in.pointsOf(p), lat)
	}
	for _, c := range single {
		for _, swapped := range []bool{false, true} {
			at := c.pattern()
			if at.pairs = latFirst; swapped {
				at.pairs = lonFirst
			}
			if c.folded == "coordinates" && c.parent.byName["type"] != nil { // GeoJSON, which may be more than a point
				at = c.parent.pattern()
			}
			judge(c, in.pointsIn(c, swapped), at)
		}
	}
	for i := range found { // of a list whose entries all have one, none is that of the report
		if c := found[i].column; c.keyed {
			for !strings.HasPrefix(c.name, "[") {
				c = c.parent
			}
			found[i].plain = found[i].plain && !slices.ContainsFunc(found, func(of located) bool { return !of.column.keyed && of.column.isIn(c.parent) })
		}
	}
	return found
}

func (in *inference) position(all []located) {
	rank := func(l located) float64 {
		r := l.share + 0.5*float64(l.n)/float64(in.records) - 0.02*float64(l.column.depth())
		if l.column.of.means&in.bits("lat lon geo") != 0 {
			r += 0.2
		}
		return r
	}
	found := slices.DeleteFunc(slices.Clone(all), func(l located) bool { return !l.plain })
	if len(found) == 0 {
		return
	}
	best := found[first(found, rank)]
	in.mapping.Fields.Location = []pattern{best.from}
	in.note("location", best.column, "%.0f %% are where the report is", 100*best.share)
}
