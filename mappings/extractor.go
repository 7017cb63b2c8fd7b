package mappings

import (
	"github.com/go-json-experiment/json/jsontext"
)

// extractor makes one document at a time. It is reused for the next one.
type extractor struct {
	mapping      *kindMapping
	countryTable countryNames
	trace        *trace // nil unless somebody asked
	tree         tree
	dst          []byte   // the document so far
	unfit        []string // names of the fields that had only values that do not fit

	roots   []uint32 // the objects that are looked at
	found   []uint32
	inner   []uint32            // found below a place, while found is in use
	cleaned []byte              // the value being converted
	seen    map[string]struct{} // values of the list being written
	prose   []byte              // text so far
}

// tally is what was seen of one field.
type tally struct{ fits, unfit, absent, containers int }

func (t *tally) count(v verdict) {
	switch v {
	case fits:
		t.fits++
	case unfit:
		t.unfit++
	case absent:
		t.absent++
	case container:
		t.containers++
	}
}

func (t *tally) add(o tally) {
	t.fits += o.fits
	t.unfit += o.unfit
	t.absent += o.absent
	t.containers += o.containers
}

// report notes a field that has no value though there was one that did not fit.
// An object or an array is only held against a field when nothing inside was
// meant for it.
func (x *extractor) report(name string, t tally) (reported bool) {
	reported = t.fits == 0 && (t.unfit > 0 || t.containers > 0 && t.absent == 0)
	if reported {
		x.unfit = append(x.unfit, name)
	}
	return reported
}

// first writes the first value of a field that fits. convert appends it to
// x.dst, after the name that is there already.
func (x *extractor) first(name string, from []pointer, convert func(*extractor, uint32) verdict) {
	var seen tally
	mark := x.trace.mark()
	for _, root := range x.roots {
		for i := range from {
			x.found = x.tree.find(x.found[:0], root, from[i].steps)
			for _, at := range x.found {
				start := len(x.dst)
				x.member(name)
				value := len(x.dst)
				v := convert(x, at)
				x.trace.note(x, name, at, v, value)
				if v == fits {
					x.trace.settle(mark, false)
					return
				}
				x.dst = x.dst[:start]
				seen.count(v)
			}
		}
	}
	x.trace.settle(mark, x.report(name, seen))
}

// member starts a member of the document.
func (x *extractor) member(name string) {
	x.dst = append(x.dst, ',', '"')
	x.dst = append(x.dst, name...)
	x.dst = append(x.dst, '"', ':')
}

func (x *extractor) quote(s []byte) {
	x.dst, _ = jsontext.AppendQuote(x.dst, s) // s comes from a record that is valid UTF-8
}
