package mappings

import "strings"

// places writes the places that a record names, each with what is known of its
// name, code and location.
func (x *extractor) places() {
	var seen tally
	from := &x.mapping.Places
	start, count := len(x.dst), 0
	x.member("places")
	x.dst = append(x.dst, '[')
	bounded := false
places:
	for _, root := range x.roots {
		for i := range from.Each {
			x.found = x.tree.find(x.found[:0], root, from.Each[i].steps)
			for _, at := range x.found {
				if x.tree.empty(at) {
					continue
				}
				if count >= maxValues {
					x.trace.note(x, "places", at, surplus, 0)
					bounded = true
					break places
				}
				if x.place(at, count == 0, &seen) {
					count++
				}
			}
		}
	}
	if seen.unfit > 0 || bounded {
		x.unfit = append(x.unfit, "places")
	}
	if count == 0 {
		x.dst = x.dst[:start]
		return
	}
	x.dst = append(x.dst, ']')
}

// place writes one place, unless nothing of it is known.
func (x *extractor) place(at uint32, isFirst bool, seen *tally) bool {
	from := &x.mapping.Places
	start := len(x.dst)
	if !isFirst {
		x.dst = append(x.dst, ',')
	}
	open := len(x.dst)
	x.part(at, "places.name", from.Name, (*extractor).putLine, seen)
	x.part(at, "places.code", from.Code, (*extractor).putCode, seen)
	x.part(at, "places.location", from.Location, (*extractor).putPoint, seen)
	if len(x.dst) == open {
		x.dst = x.dst[:start]
		return false
	}
	x.dst[open] = '{' // in place of the comma before the first member
	x.dst = append(x.dst, '}')
	return true
}

// part writes the first value of one member of a place that fits.
func (x *extractor) part(place uint32, name string, from []pointer, convert func(*extractor, uint32) verdict, seen *tally) {
	bad := false
	mark := x.trace.mark()
	for i := range from {
		x.inner = x.tree.find(x.inner[:0], place, from[i].steps)
		for _, at := range x.inner {
			start := len(x.dst)
			x.member(strings.TrimPrefix(name, "places."))
			value := len(x.dst)
			v := convert(x, at)
			if v != container {
				x.trace.note(x, name, at, v, value)
			}
			if v == fits {
				x.trace.settle(mark, false)
				return
			}
			x.dst = x.dst[:start]
			bad = bad || v == unfit
		}
	}
	if bad {
		seen.count(unfit)
	}
	x.trace.settle(mark, bad)
}
