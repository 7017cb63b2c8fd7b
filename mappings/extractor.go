package mappings

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/mappings/language"
)

// extractor makes one document at a time. It is reused for the next one.
type extractor struct {
	mapping      *kindMapping
	near         *shape // of the record; nil if it is of none
	countryTable countriesFile
	world        func() *world
	threatWords  *threatWords
	subject      subject
	worded       bool   // the string read last names a country in words rather than by a code
	trace        *trace // nil unless the caller wants one
	tree         tree
	dst          []byte   // the document so far
	unfit        []string // fields with values that do not fit

	roots      []uint32 // the objects that patterns start from
	names      []uint64 // hashes of the names of the record's members
	found      []uint32
	inner      []uint32            // found below a place, while found is in use
	cleaned    []byte              // the value being converted
	seen       map[string]struct{} // values of the list being written
	codes      []string            // of the countries of the record
	quoted     []byte
	title      []byte       // as it is in the document, quoted; empty if there is none
	dateOrders [2]dateOrder // of dates with / and with -
	called     string       // the label of the risk level, folded, while the level is read; empty if there is none

	pointersOnly bool // names are not read, whatever the mapping is

	// For values that are found by the words of their names.
	by       *pattern // that has led to the value being converted; nil if none has
	reader   reader
	boxes    map[string]box
	guesses  []guess   // sorted by field, the best first
	entered  []uint32  // objects that gather has read
	lon      uint32    // the longitude of a location in two values; else none
	dropped  fieldBits // the fields of which some values are left out because there are too many
	guessing bool      // the value being converted was found by the words of its name
	tried    []uint32  // values tried so far for the current field

	labels     []string // of levels, folded, that the record uses
	labelsRead bool     // labels are those of this record

	prose   []byte // text so far
	counts  []int  // mentions of each threat
	ratings []bool // whether the record rates each threat
	lists   bool   // the record lists threats without rating them

	// For the languages of the text.
	textLanguages []string // of text_in
	detector      *language.Detector
	passages      []passage
	sizes         map[string]int    // bytes of the passages by the language that they tell
	speech        map[uint32]spoken // by object or array
}

// tally counts what became of the values that were tried for one field.
type tally struct{ fits, unfit, absent, containers int }

func (t *tally) count(v verdict) {
	switch v {
	case fits:
		t.fits++
	case unfit, unsure:
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

// report adds a field to x.unfit if it has no value although one was meant for it. An
// object or an array counts as meant for it only if no value was absent, because then the
// absent one, usually inside it, was meant.
func (x *extractor) report(name string, t tally) (reported bool) {
	reported = t.fits == 0 && (t.unfit > 0 || t.containers > 0 && t.absent == 0)
	if reported {
		x.unfit = append(x.unfit, name)
	}
	return reported
}

// first writes the first value that fits a field. convert appends it to x.dst, which
// already ends with the name.
func (x *extractor) first(name string, from []pattern, convert func(*extractor, uint32) verdict) {
	var seen tally
	mark := x.trace.mark()
	x.tried = x.tried[:0]
	for _, root := range x.roots {
		for i := range from {
			x.found = x.tree.find(x.found[:0], root, from[i].steps)
			for _, at := range x.found {
				if from[i].text != "" {
					at = x.unwrapped(at)
				}
				x.tried = append(x.tried, at)
				v := x.attemptBy(&from[i], root, name, at, convert)
				if v == fits {
					x.trace.settle(mark, false)
					return
				}
				seen.count(v)
			}
		}
	}
	for _, g := range x.guessed(fieldNamed(name)) {
		if g.lon == none {
			g.at = x.unwrapped(g.at)
		} else if parent := x.tree.nodes[g.at].parent; slices.Contains(x.tried, parent) && x.anyMember(parent, "lat", "latitude") == g.at {
			continue // tried already, as part of its object
		}
		if slices.Contains(x.tried, g.at) || name == "title" && x.tree.nodes[g.at].rawLen > maxGuessedTitle {
			continue
		}
		x.lon, x.guessing = g.lon, true
		v := x.attempt(name, g.at, convert)
		x.lon, x.guessing = none, false
		if v == fits {
			x.trace.noteLongitude(x, g.lon)
			x.trace.guessed(mark)
			x.trace.settle(mark, false)
			return
		}
		if v != container && x.tree.nodes[g.at].rawLen <= maxMisfit {
			seen.count(v)
		}
	}
	x.trace.settle(mark, x.report(name, seen))
}

// maxGuessedTitle, in bytes, is longer than titles are and shorter than paragraphs.
const maxGuessedTitle = 250

// maxMisfit is the length in bytes of the longest value that counts as not fitting if only
// the words of its name suggest the field. Longer text is prose about the field rather than
// its value.
const maxMisfit = 64

// attemptBy is attempt for a value that a pattern has led to from an object.
func (x *extractor) attemptBy(p *pattern, from uint32, name string, at uint32, convert func(*extractor, uint32) verdict) verdict {
	x.by = p
	if p.lon != nil {
		n := len(x.inner) // which a caller may range over
		if x.inner = x.tree.find(x.inner, from, p.lon.steps); len(x.inner) > n {
			x.lon = x.inner[n]
		}
		if x.inner = x.inner[:n]; x.lon == none {
			x.by = nil
			return absent
		}
	}
	v := x.attempt(name, at, convert)
	if v == fits {
		x.trace.noteLongitude(x, x.lon)
	}
	x.lon, x.by = none, nil
	return v
}

// attempt writes a field with the value at a node if it fits.
func (x *extractor) attempt(name string, at uint32, convert func(*extractor, uint32) verdict) verdict {
	start := len(x.dst)
	x.member(strings.TrimPrefix(name, "places."))
	value := len(x.dst)
	v := convert(x, at)
	x.trace.note(x, name, at, v, value)
	if v != fits {
		x.dst = x.dst[:start]
	}
	return v
}

// guessed returns the values whose names suggest a field, the best first.
func (x *extractor) guessed(f fieldID) []guess {
	if x.mapping.told.has(f) {
		return nil
	}
	start := 0
	for start < len(x.guesses) && x.guesses[start].field < f {
		start++
	}
	end := start
	for end < len(x.guesses) && x.guesses[end].field == f {
		end++
	}
	return x.guesses[start:end]
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
