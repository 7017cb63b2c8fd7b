package mappings

import (
	"bytes"
	"slices"
	"strings"
)

// list writes every value of a field that fits, each once. Strings that are
// codes are not text.
func (x *extractor) list(name string, from []source, codes bool, convert func(*extractor, []byte) ([]byte, verdict)) {
	var seen tally
	mark := x.trace.mark()
	clear(x.seen)
	start := len(x.dst)
	x.member(name)
	x.dst = append(x.dst, '[')
	partly := false // some of the values in one place fit, and some do not
values:
	for _, root := range x.roots {
		for i := range from {
			x.found = x.tree.find(x.found[:0], root, from[i].at.steps)
			var here tally
			for _, at := range x.found {
				if len(x.seen) >= maxValues {
					x.trace.note(x, name, at, surplus, 0)
					partly = true
					break values
				}
				value := len(x.dst)
				v := x.values(at, from[i].split, convert)
				if v != fits && len(x.dst) > value {
					x.trace.note(x, name, at, fits, value) // some of them do
				}
				x.trace.note(x, name, at, v, value)
				here.count(v)
				partly = partly || v == surplus
				x.tree.nodes[at].used = x.tree.nodes[at].used || codes && v == fits
			}
			partly = partly || here.fits > 0 && here.unfit > 0
			seen.add(here)
		}
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

// countries writes the one country of a record as a string, several as an array.
func (x *extractor) countries(from []source) {
	start := len(x.dst)
	x.list("country", from, true, (*extractor).country)
	if len(x.seen) == 1 {
		open := start + len(`,"country":`)
		x.dst = slices.Delete(x.dst, open, open+1)
		x.dst = x.dst[:len(x.dst)-1]
	}
}

// values adds the value or values of one scalar to the list that is open.
func (x *extractor) values(at uint32, split string, convert func(*extractor, []byte) ([]byte, verdict)) verdict {
	s, v := x.scalar(at)
	if v != fits {
		return v
	}
	all := absent
	for word := range bytes.FieldsFuncSeq(s, func(c rune) bool { return strings.ContainsRune(split, c) }) {
		word = bytes.TrimSpace(word)
		if len(word) == 0 {
			continue
		}
		if len(x.seen) >= maxValues {
			return surplus
		}
		value, v := convert(x, word)
		if v == fits {
			x.add(value)
		}
		if v == unfit || all == absent {
			all = v
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
