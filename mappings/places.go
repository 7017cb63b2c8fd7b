package mappings

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// places writes the places that a record names, each with its name, code and location as
// far as they are known.
func (x *extractor) places() {
	var seen tally
	from := &x.mapping.Places
	start, count := len(x.dst), 0
	x.member("places")
	x.dst = append(x.dst, '[')
	bounded := false
	x.tried = x.tried[:0]
places:
	for _, root := range x.roots {
		for i := range from.Each {
			x.found = x.tree.find(x.found[:0], root, from.Each[i].steps)
			for _, at := range x.found {
				if x.tree.empty(at) {
					continue
				}
				x.tried = append(x.tried, at)
				if count >= maxValues {
					x.trace.note(x, "places", at, surplus, 0)
					bounded = true
					break places
				}
				count += x.placesIn(at, count == 0, &seen)
			}
		}
	}
	for _, g := range x.guessed(placesField) {
		first, single := x.tree.nodes[g.at].first, x.tree.nodes[g.at].kind != '['
		if single {
			if slices.Contains(x.tried, g.at) || slices.Contains(x.tried, x.tree.nodes[g.at].parent) {
				continue // a pattern has led to it, or to the place that it names
			}
			first = x.unwrapped(g.at)
		}
		if bounded || slices.Contains(x.tried, first) {
			continue
		}
		for at := first; at != none; at = x.tree.nodes[at].next {
			if x.tree.empty(at) || x.tree.nodes[at].kind == '0' {
				continue
			}
			if bounded = count >= maxValues; bounded {
				x.trace.note(x, "places", at, surplus, 0)
				break
			}
			mark := x.trace.mark()
			if n := x.placesIn(at, count == 0, &seen); n > 0 {
				count += n
				x.trace.guessed(mark)
			}
			if single {
				break
			}
		}
		x.tried = append(x.tried, first)
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

// placesIn writes the place at a node, or those whose names are in one string, as in
// "Rome; Milan", and returns how many there are.
func (x *extractor) placesIn(at uint32, isFirst bool, seen *tally) (n int) {
	names := x.namesOfPlaces(at)
	if len(names) < 2 {
		if x.place(at, isFirst, seen) {
			n = 1
		}
		return n
	}
	for _, name := range names {
		if !isFirst || n > 0 {
			x.dst = append(x.dst, ',')
		}
		open := len(x.dst)
		x.attempt("places.name", at, func(*extractor, uint32) verdict {
			x.quote([]byte(name))
			return fits
		})
		x.dst[open] = '{' // in place of the comma
		if x.subject.wantsPlaces() {
			x.subject.places = append(x.subject.places, placeOf{name: name})
		}
		x.dst = append(x.dst, '}')
		n++
	}
	return n
}

// namesOfPlaces returns the names in a string that lists several, each once. Something that does not
// begin as names do makes it one text.
func (x *extractor) namesOfPlaces(at uint32) (names []string) {
	const separators = ";|"
	if x.tree.nodes[at].kind != '"' || x.tree.nodes[at].rawLen > maxLine || !bytes.ContainsAny(x.tree.raw(at), separators) {
		return nil
	}
	line, v := x.line(x.tree.text(at))
	if v != fits {
		return nil
	}
	for name := range strings.FieldsFuncSeq(string(line), func(c rune) bool { return strings.ContainsRune(separators, c) }) {
		name = strings.TrimSpace(name)
		first, _ := utf8.DecodeRuneInString(name)
		if !unicode.IsLetter(first) || unicode.IsLower(first) {
			return nil
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// place writes one place unless nothing of it is known, and reports whether it did.
func (x *extractor) place(at uint32, isFirst bool, seen *tally) bool {
	from := &x.mapping.Places
	start := len(x.dst)
	if !isFirst {
		x.dst = append(x.dst, ',')
	}
	open := len(x.dst)
	x.part(at, "places.name", from.Name, (*extractor).putLine, seen)
	name := ""
	if x.subject.wantsPlaces() {
		name = x.written(open, "name")
	}
	x.part(at, "places.code", from.Code, (*extractor).putCode, seen)
	location := len(x.dst)
	x.part(at, "places.location", from.Location, (*extractor).putPoint, seen)
	if name != "" {
		x.subject.places = append(x.subject.places, placeOf{name, len(x.dst) > location, x.subject.at})
	}
	if len(x.dst) == open {
		x.dst = x.dst[:start]
		return false
	}
	x.dst[open] = '{' // in place of the comma before the first member
	x.dst = append(x.dst, '}')
	return true
}

// part writes the first value that fits one member of a place.
func (x *extractor) part(place uint32, name string, from []pattern, convert func(*extractor, uint32) verdict, seen *tally) {
	bad := false
	mark := x.trace.mark()
	for i := range from {
		x.inner = x.tree.find(x.inner[:0], place, from[i].steps)
		for _, at := range x.inner {
			if x.tree.inner != nil {
				if name == "places.name" {
					at = x.unwrapped(at)
				}
				if x.ofText(at, name, &from[i]) {
					x.trace.settle(mark, false)
					return
				}
			}
			v := x.attemptBy(&from[i], place, name, at, convert)
			if v == fits {
				x.trace.settle(mark, false)
				return
			}
			bad = bad || v == unfit
		}
	}
	if bad {
		seen.count(unfit)
	}
	if !bad && x.partByWords(place, name, convert) {
		x.trace.settle(mark, false)
		return
	}
	x.trace.settle(mark, bad)
}

// ofText writes the name or the location of a place whose text has both, and reports whether it did.
func (x *extractor) ofText(at uint32, part string, from *pattern) bool {
	if x.tree.nodes[at].kind != '"' || x.tree.nodes[at].rawLen > maxLine {
		return false
	}
	line, v := x.line(x.tree.text(at))
	if v != fits {
		return false
	}
	name, first, second, ok := cutPosition(string(line))
	if !ok {
		return false
	}
	p := point{first, second}
	if from.pairs == lonFirst {
		p = point{second, first}
	}
	return x.attempt(part, at, func(*extractor, uint32) verdict {
		switch part {
		case "places.name":
			x.quote([]byte(name))
			return fits
		case "places.location":
			return x.writePoint(p, p.verdict())
		}
		return absent
	}) == fits
}

// partByWords writes the name or the location of a place if the words of names lead to it,
// and reports whether it did.
func (x *extractor) partByWords(place uint32, name string, convert func(*extractor, uint32) verdict) bool {
	if !x.readsNames() || x.tree.nodes[place].kind != '{' || name == "places.code" {
		return false
	}
	mark, v := x.trace.mark(), absent
	if name == "places.location" {
		if lat, lon := x.latLon(place); lat != none && lon != none {
			x.lon = lon
			v = x.attempt(name, lat, convert)
			x.trace.noteLongitude(x, lon)
			x.lon = none
		}
	} else if at := x.calledBy(place); at != none {
		v = x.attempt(name, x.unwrapped(at), convert)
	}
	x.trace.guessed(mark)
	return v == fits
}

// calledBy returns the member of a place that is its name, or none.
func (x *extractor) calledBy(place uint32) uint32 {
	best, rank := uint32(none), 0
	for at := x.tree.nodes[place].first; at != none; at = x.tree.nodes[at].next {
		n := x.reader.name(x.tree.quotedName(at))
		if n.Unknown || n.Concepts == 0 {
			continue
		}
		r := 0
		switch n.Concepts &^ x.reader.bits.place {
		case x.reader.bits.name, x.reader.bits.title, x.reader.bits.label:
			r = 2
		case 0:
			r = 1
		}
		if r > rank && (n.Language == "" || n.Language == "en") {
			best, rank = at, r
		}
	}
	return best
}
