package mappings

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// list writes every value that fits a field, each once. If codes is set, a string that has
// only codes stays out of `text`; one that names a country in words does not.
func (x *extractor) list(name string, from []pattern, codes bool, convert func(*extractor, []byte) ([]byte, verdict)) {
	var seen tally
	mark := x.trace.mark()
	clear(x.seen)
	x.tried = x.tried[:0]
	start := len(x.dst)
	x.member(name)
	x.dst = append(x.dst, '[')
	partly := false // only some of the values in one place fit, or there are too many
values:
	for _, root := range x.roots {
		for i := range from {
			x.found = x.tree.find(x.found[:0], root, from[i].steps)
			var here tally
			for _, at := range x.found {
				x.tried = append(x.tried, at)
				if x.tree.nodes[at].kind == '{' && x.isLocalized(at) {
					here.add(x.allLanguages(name, at, codes, convert))
					continue
				}
				if len(x.seen) >= maxValues {
					x.trace.note(x, name, at, surplus, 0)
					partly = true
					break values
				}
				value := len(x.dst)
				v := x.values(at, from[i].split, codes, convert)
				if v != fits && len(x.dst) > value {
					x.trace.note(x, name, at, fits, value) // some of its values do
				}
				x.trace.note(x, name, at, v, value)
				here.count(v)
				partly = partly || v == surplus
				x.tree.nodes[at].used = x.tree.nodes[at].used || codes && v == fits && !x.worded
			}
			partly = partly || here.fits > 0 && here.unfit > 0
			seen.add(here)
		}
	}
	if name == "names" || len(x.seen) == 0 {
		x.guessList(name, codes, convert, &seen)
		partly = partly || x.dropped.has(fieldNamed(name))
	}
	if partly {
		x.unfit = append(x.unfit, name)
	} else {
		partly = x.report(name, seen)
	}
	x.trace.settle(mark, partly)
	if len(x.seen) == 0 {
		x.dst = x.dst[:start]
		return
	}
	x.dst = append(x.dst, ']')
}

// countries writes the countries of a record: one as a string, several as an array.
func (x *extractor) countries(from []pattern) {
	start := len(x.dst)
	x.list("country", from, true, (*extractor).country)
	if len(x.seen) == 1 {
		open := start + len(`,"country":`)
		x.dst = slices.Delete(x.dst, open, open+1)
		x.dst = x.dst[:len(x.dst)-1]
	}
}

// values adds the value or values of one scalar to the list that is open. With codes, a name in place of
// a code stays whole if it means something, as "Korea, Republic of" does: spaces separate codes, but not names.
func (x *extractor) values(at uint32, split string, codes bool, convert func(*extractor, []byte) ([]byte, verdict)) verdict {
	s, all := x.scalar(at)
	x.worded = false
	if all != fits {
		return all
	}
	const longest = 3 // of a code
	all = absent
	add := func(word []byte) {
		if word = bytes.TrimSpace(word); len(word) == 0 {
			return
		}
		if len(x.seen) >= maxValues {
			all = surplus
			return
		}
		value, v := convert(x, word)
		if v == fits {
			x.add(value)
			x.worded = x.worded || len(word) > longest
		}
		if v == unfit || all == absent {
			all = v
		}
	}
	if codes {
		if add(s); all == fits || all == surplus {
			return all
		}
		all = absent
	}
	spaced := strings.Contains(split, " ")
	for part := range bytes.FieldsFuncSeq(s, func(c rune) bool { return (c != ' ' || !codes) && strings.ContainsRune(split, c) }) {
		words := [][]byte{part}
		if codes && spaced {
			tooLong := func(word []byte) bool { return len(word) > longest }
			if of := bytes.Fields(part); len(of) > 1 && !slices.ContainsFunc(of, tooLong) {
				words = of
			}
		}
		for _, word := range words {
			if add(word); all == surplus {
				return all
			}
		}
	}
	return all
}

func (x *extractor) add(value []byte) {
	if _, again := x.seen[string(value)]; again {
		return
	}
	if len(x.seen) > 0 {
		x.dst = append(x.dst, ',')
	}
	x.seen[string(value)] = struct{}{}
	x.quote(value)
}

// guessList adds the values whose names suggest the field. What reads as the title does is
// not added to the names.
func (x *extractor) guessList(name string, codes bool, convert func(*extractor, []byte) ([]byte, verdict), seen *tally) {
	f := fieldNamed(name)
	guesses := x.guessed(f)
	for _, g := range guesses {
		tried := slices.Contains(x.tried, g.at)
		if len(x.seen) >= maxValues && !tried {
			x.dropped.add(f)
			return
		}
		mark := x.trace.mark()
		if f != namesField || x.tree.nodes[g.at].kind != '{' || !x.isLocalized(g.at) {
			x.addValue(name, x.unwrapped(g.at), codes, convert, seen)
		} else if !tried {
			seen.add(x.allLanguages(name, g.at, codes, convert))
		}
		x.trace.guessed(mark)
	}
}

// allLanguages adds the versions of a text in several languages, except the one that is the
// title.
func (x *extractor) allLanguages(name string, localized uint32, codes bool, convert func(*extractor, []byte) ([]byte, verdict)) (seen tally) {
	add := func(at uint32) (more bool) {
		if len(x.seen) >= maxValues {
			x.dropped.add(fieldNamed(name))
			return false
		}
		x.addValue(name, at, codes, convert, &seen)
		return true
	}
	for at := x.tree.nodes[localized].first; at != none; at = x.tree.nodes[at].next {
		if x.tree.nodes[at].kind != '[' {
			if !add(at) {
				return seen
			}
			continue
		}
		for of := x.tree.nodes[at].first; of != none; of = x.tree.nodes[of].next {
			if !add(of) {
				return seen
			}
		}
	}
	return seen
}

func (x *extractor) addValue(name string, at uint32, codes bool, convert func(*extractor, []byte) ([]byte, verdict), seen *tally) {
	if x.tree.nodes[at].kind == '{' {
		at = x.partOf(at, name)
	}
	if at == none || slices.Contains(x.tried, at) || x.tree.nodes[at].rawLen > maxLine {
		return
	}
	split := ",;|/ "
	if name == "names" {
		if split = "|;"; x.isTitle(at) {
			return
		}
	}
	value := len(x.dst)
	v := x.values(at, split, codes, convert)
	x.trace.note(x, name, at, v, value)
	if v == fits {
		x.tree.nodes[at].used = x.tree.nodes[at].used || codes && !x.worded
	}
	if v == surplus {
		x.dropped.add(fieldNamed(name))
	}
	if v != container {
		seen.count(v)
	}
}

// isTitle reports whether a value reads the same as the title. One that is much longer, as texts are,
// is taken not to: reading it as a title takes a tenth of the time of a document.
func (x *extractor) isTitle(at uint32) bool {
	const mostMarkup = 1000
	if int(x.tree.nodes[at].rawLen) > 6*len(x.title)+mostMarkup { // an escaped character has up to six bytes
		return false
	}
	s, v := x.scalar(at)
	if v != fits || len(x.title) == 0 {
		return false
	}
	line, v := x.line(s)
	if v != fits {
		return false
	}
	x.quoted, _ = jsontext.AppendQuote(x.quoted[:0], line)
	return bytes.Equal(x.quoted, x.title)
}

// partOf returns the member of an object that a list field takes, or none.
func (x *extractor) partOf(object uint32, name string) uint32 {
	switch name {
	case "airports":
		return x.anyMember(object, "iata", "iatacode", "code")
	case "country":
		return x.anyMember(object, "iso", "iso2", "isocode", "alpha2", "iso3", "alpha3", "countrycode", "code", "countryname", "name", "label", "title")
	}
	return x.anyMember(object, "name", "title", "value", "label")
}
