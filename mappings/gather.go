package mappings

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/vocabulary"
)

// guess is a value whose name suggests that it belongs to a field.
type guess struct {
	hit
	at  uint32
	lon uint32 // of a location in two values, with the latitude at `at`; else none
}

// reader reads names by their words, and caches the results.
type reader struct {
	vocabulary *vocabulary.Vocabulary
	bits       concepts
	names      map[string]vocabulary.Name
	hits       map[hitKey][]hit
}

// concepts are the bits of the concepts that are tested one by one.
type concepts struct {
	lat, lon, link, id, language, category, title, name, code, iata, label, text, place, part, number, threat, score, rates, kind, scale, lowest, rated, warned, dates vocabulary.Concepts
}

type hitKey struct {
	book  *phrasebook
	means vocabulary.Concepts
}

func newReader(v *vocabulary.Vocabulary) reader {
	return reader{
		vocabulary: v, names: map[string]vocabulary.Name{}, hits: map[hitKey][]hit{},
		bits: concepts{
			lat: v.Concepts("lat"), lon: v.Concepts("lon"), link: v.Concepts("link"), id: v.Concepts("id"), language: v.Concepts("language"),
			category: v.Concepts("category"), title: v.Concepts("title"), name: v.Concepts("name"), code: v.Concepts("code"), iata: v.Concepts("iata"),
			label: v.Concepts("label"), text: v.Concepts("text"), place: v.Concepts("place region city destination"), part: v.Concepts("part"), number: v.Concepts("number"), threat: v.Concepts("threat"), score: v.Concepts("score"),
			rates: v.Concepts("level rating score severity risk threat security"), kind: v.Concepts("category threat risk name title label"),
			scale: v.Concepts("scale"), lowest: v.Concepts("lowest"), rated: v.Concepts("risk threat security rating"), warned: v.Concepts("risk threat"), dates: v.Concepts("date start end valid published created updated"),
		},
	}
}

// maxRemembered bounds each cache of a reader. A feed has some hundreds of names.
const maxRemembered = 4096

func (r *reader) name(raw []byte) vocabulary.Name {
	if n, known := r.names[string(raw)]; known {
		return n
	}
	n := r.vocabulary.Read(string(raw))
	if len(r.names) < maxRemembered && len(raw) <= 80 {
		r.names[string(raw)] = n
	}
	return n
}

func (r *reader) fields(b *phrasebook, means vocabulary.Concepts) []hit {
	key := hitKey{b, means}
	found, known := r.hits[key]
	if !known {
		found = b.hits(means)
		if len(r.hits) < maxRemembered {
			r.hits[key] = found
		}
	}
	return found
}

// How far names are read. What is deeper, or further down a long list, is about something
// other than the record as a whole.
const (
	maxGuessDepth = 5
	maxPairs      = 100
	maxGuesses    = 500
)

// readsNames reports whether fields without a pointer are read by the names in a record: not where the values of
// enough records have told its mapping, with names among the witnesses.
func (x *extractor) readsNames() bool {
	from := x.mapping.Inferred
	return x.mapping.book != nil && (from == nil || from.Records < fewestRecords) && !x.pointersOnly
}

// gather collects the values whose names suggest a field, from the record and from the
// objects in it whose names consist of known words.
func (x *extractor) gather() {
	x.guesses, x.dropped, x.labelsRead = x.guesses[:0], 0, false
	x.dateOrders = [2]dateOrder{}
	if !x.readsNames() {
		return
	}
	for i, root := range x.roots {
		if i > 0 && root != 0 && slices.Contains(x.entered, root) {
			continue
		}
		x.gatherIn(root, 0, 0, 0)
	}
	x.entered = x.entered[:0]
	slices.SortStableFunc(x.guesses, func(a, b guess) int {
		if a.field != b.field {
			return int(a.field) - int(b.field)
		}
		return a.rank - b.rank
	})
}

// gatherIn collects guesses from the members of an object. means is what the names on the
// way to it mean together. later is added to the rank of every guess; it is above 0 if the
// object is in a language other than English.
func (x *extractor) gatherIn(object uint32, means vocabulary.Concepts, later, depth int) {
	if x.tree.nodes[object].kind != '{' || depth > maxGuessDepth {
		return
	}
	x.entered = append(x.entered, object)
	var on coordinates
	for at := x.tree.nodes[object].first; at != none; at = x.tree.nodes[at].next {
		n := x.reader.name(x.tree.quotedName(at))
		if n.Unknown {
			x.gatherPlaces(at)
			continue
		}
		all := means | n.Concepts
		x.coordinate(&on, all, at)
		rank := later
		if n.Language != "" && n.Language != "en" {
			rank += otherLanguage
		}
		x.gatherAt(at, all, rank, depth, n.Language != "")
	}
	x.gatherPoint(on)
}

// coordinates are the latitude and the longitude in an object, or in a list of labels with
// values; none if there is no such value.
type coordinates struct{ lat, lon uint32 }

// coordinate sets on.lat or on.lon to the value at a node if its names mean that.
func (x *extractor) coordinate(on *coordinates, means vocabulary.Concepts, at uint32) {
	switch means &^ x.mapping.book.place {
	case x.reader.bits.lat:
		on.lat = at
	case x.reader.bits.lon:
		on.lon = at
	}
}

// gatherPoint adds a guess for a location in two values.
func (x *extractor) gatherPoint(on coordinates) {
	if on.lat != none && on.lon != none {
		x.guess(guess{hit: hit{locationField, 100}, at: on.lat, lon: on.lon})
	}
}

// otherLanguage is added to the rank of a value that is not in English.
const otherLanguage = 8

func (x *extractor) guess(g guess) {
	if len(x.guesses) == maxGuesses {
		x.dropped.add(g.field)
		return
	}
	x.guesses = append(x.guesses, g)
}

// gatherAt collects guesses from one value. means is what the names on the way to it mean
// together. localized says that its name states a language.
func (x *extractor) gatherAt(at uint32, means vocabulary.Concepts, rank, depth int, localized bool) {
	if x.tree.nodes[at].kind == '[' {
		x.gatherList(at, means, rank, depth)
		return
	}
	switch {
	case x.tree.nodes[at].kind != '{':
	case x.isLocalized(at):
		if english := x.inEnglish(at); x.tree.nodes[english].kind == '[' {
			x.gatherList(english, means, rank, depth)
			return
		}
		localized = true
	case x.isTranslated(at):
		x.gatherTranslations(at, means, rank, depth)
		return
	default:
		x.guessFields(at, means, rank, false, true)
		x.gatherIn(at, means, rank, depth+1)
		return
	}
	x.guessFields(at, means, rank, localized || rank >= otherLanguage, false)
}

// gatherTranslations collects guesses from an object or a list that has one object for each
// language. The English one ranks before the others.
func (x *extractor) gatherTranslations(at uint32, means vocabulary.Concepts, rank, depth int) {
	english := x.inEnglish(at)
	for of := x.tree.nodes[at].first; of != none; of = x.tree.nodes[of].next {
		later := rank
		if of != english {
			later += otherLanguage
		}
		x.gatherIn(of, means, later, depth+1)
	}
}

// guessFields adds a guess for every field that a value may belong to. A localized title
// may be one of the names as well. An object as a whole can only be a location or ratings of threats.
func (x *extractor) guessFields(at uint32, means vocabulary.Concepts, rank int, localized, object bool) {
	for _, h := range x.reader.fields(x.mapping.book, means) {
		if object && h.field != locationField && h.field != threatsField || h.field == placesField && !x.isSinglePlace(at, rank) {
			continue
		}
		h.rank += rank
		x.guess(guess{hit: h, at: at})
		if h.field == titleField && localized {
			x.guess(guess{hit: hit{namesField, 64 + h.rank}, at: at})
		}
	}
}

// isSinglePlace reports whether a value that is in no list is the name of a place that the report
// is about: words, rather than a code, a position or prose. rank tells its language.
func (x *extractor) isSinglePlace(at uint32, rank int) bool {
	const shortest, longest = 4, 100 // bytes
	if !x.mapping.book.singlePlaces || rank >= otherLanguage {
		return false
	}
	at = x.unwrapped(at)
	if x.tree.nodes[at].kind != '"' || x.tree.nodes[at].rawLen > longest {
		return false
	}
	name := bytes.TrimSpace(x.tree.text(at))
	first, _ := utf8.DecodeRune(name)
	return len(name) >= shortest && unicode.IsLetter(first) && !bytes.ContainsAny(name, "/\n")
}

// gatherList collects guesses from a list: of one value, of labels with values, of
// translations, of places, or of the values of a field that takes several.
func (x *extractor) gatherList(at uint32, means vocabulary.Concepts, rank, depth int) {
	first := x.tree.nodes[at].first
	if first == none || depth > maxGuessDepth {
		return
	}
	for _, h := range x.reader.fields(x.mapping.book, means) {
		switch h.field {
		case codeField: // a city has one code; a list has those of its airports
			if means&x.reader.bits.iata == 0 || !x.isScalar(first) {
				continue
			}
			h.field = airportsField
			fallthrough
		case namesField, countryField, airportsField:
			for of := first; of != none; of = x.tree.nodes[of].next {
				x.guess(guess{hit: h, at: of})
			}
		case placesField, threatsField:
			x.guess(guess{hit: h, at: at})
		case locationField:
			if x.tree.nodes[first].kind == '0' {
				x.guess(guess{hit: h, at: at})
			}
		}
	}
	switch {
	case x.tree.nodes[first].next == none && x.isScalar(x.unwrapped(first)):
		if x.isScalar(first) && means&x.reader.bits.iata != 0 {
			return
		}
		x.guessFields(x.unwrapped(first), means, rank, false, false)
	case x.tree.nodes[first].kind != '{':
	case x.languageOf(first) != "":
		x.gatherTranslations(at, means, rank, depth)
	default:
		x.gatherPairs(first, means, rank, depth)
		x.gatherPlaces(at)
	}
}

// gatherPairs collects guesses from objects that consist of a label and a value each,
// reading the labels as names.
func (x *extractor) gatherPairs(first uint32, means vocabulary.Concepts, rank, depth int) {
	var on coordinates
	means &^= x.reader.bits.part // a section called Summary is the summary
	n := 0
	for at := first; at != none && n < maxPairs; at, n = x.tree.nodes[at].next, n+1 {
		label, value := x.pair(at)
		if value == none {
			if n == 0 {
				return
			}
			continue
		}
		name := x.reader.name(x.tree.text(label))
		if name.Unknown {
			continue
		}
		all := means | name.Concepts
		x.coordinate(&on, all, value)
		x.gatherAt(value, all, rank, depth+1, false)
	}
	x.gatherPoint(on)
}

func (x *extractor) isScalar(at uint32) bool {
	return x.tree.nodes[at].kind != '{' && x.tree.nodes[at].kind != '['
}

// maxLabel is the length in bytes of the longest label of a value.
const maxLabel = 60

// pair returns the label and the value that an object has, or none for both.
func (x *extractor) pair(object uint32) (label, value uint32) {
	if x.tree.nodes[object].kind != '{' {
		return none, none
	}
	label = x.anyMember(object, "label", "key", "name", "field", "title", "heading", "question", "property", "attribute", "term")
	if label != none {
		label = x.unwrapped(label)
	}
	value = x.anyMember(object, "value", "val", "text", "content", "answer", "data", "body", "description")
	if label == none || value == none || x.tree.nodes[label].kind != '"' || x.tree.nodes[label].rawLen > maxLabel {
		return none, none
	}
	return label, value
}

// gatherPlaces adds a guess for a list of objects with coordinates, whatever the list is
// called. Only the first object is checked.
func (x *extractor) gatherPlaces(at uint32) {
	if x.tree.nodes[at].kind != '[' {
		return
	}
	if first := x.tree.nodes[at].first; first != none && x.tree.nodes[first].kind == '{' {
		if lat, lon := x.latLon(first); lat != none && lon != none {
			x.guess(guess{hit: hit{placesField, 100}, at: at})
		}
	}
}

// latLon finds the latitude and the longitude of an object by the words of their names.
func (x *extractor) latLon(object uint32) (lat, lon uint32) {
	if x.mapping.book == nil {
		return none, none
	}
	var on coordinates
	for at := x.tree.nodes[object].first; at != none; at = x.tree.nodes[at].next {
		if n := x.reader.name(x.tree.quotedName(at)); !n.Unknown {
			x.coordinate(&on, n.Concepts, at)
		}
	}
	return on.lat, on.lon
}

// isLocalized reports whether an object has one text by language, such as {"en": …}, or one
// number or list.
func (x *extractor) isLocalized(object uint32) bool {
	return x.languages(object, '"') || x.languages(object, '0') || x.languages(object, '[')
}

// isTranslated reports whether an object has other objects by language.
func (x *extractor) isTranslated(object uint32) bool { return x.languages(object, '{') }

// languages reports whether the members of an object are of one kind and by language. Some codes
// of languages are words of field names, too, such as id, or the `is` of a map of {"id", "no",
// "is"}: a map must have a key that can be nothing else, and as many such keys as doubtful ones.
func (x *extractor) languages(object uint32, kind byte) bool {
	there, certain, doubtful := false, 0, 0
	for at := x.tree.nodes[object].first; at != none; at = x.tree.nodes[at].next {
		of := x.tree.nodes[at].kind
		if byte(of) != kind && of != 'n' {
			return false
		}
		there = there || of != 'n'
		name := x.tree.quotedName(at)
		if isDefault(name) {
			continue
		}
		tag := name
		if end := bytes.IndexAny(name, "-_"); end >= 0 {
			tag = name[:end]
		}
		switch {
		case len(name) < 2 || len(tag) > 3:
			return false
		case vocabulary.IsLanguage(string(name)):
			if certain++; string(tag) == "en" {
				certain++
			}
		case kind == '0' || vocabulary.MapLanguage(string(name)) == "":
			return false // numbers have names such as lat and lon
		case x.reader.vocabulary.Knows(string(tag)):
			if doubtful++; bytes.ContainsAny(x.tree.raw(at), "0123456789") && kind == '"' {
				return false // an id rather than Indonesian
			}
		}
	}
	return there && certain > 0 && certain >= doubtful
}

// isDefault reports whether a key of a map by language stands for the text in any other language.
func isDefault(key []byte) bool {
	switch string(key) {
	case "default", "x-default", "local", "native", "original", "und":
		return true
	}
	return false
}

// languageOf returns the language that an object states for itself, or "".
func (x *extractor) languageOf(object uint32) string {
	at := x.anyMember(object, "language", "lang", "locale", "langcode", "languagecode")
	if at == none || x.tree.nodes[at].kind != '"' || x.tree.nodes[at].rawLen > 20 {
		return ""
	}
	return vocabulary.Language(string(x.tree.text(at)))
}

// inEnglish returns the English one of several translations, or else the first that is not
// empty. If there is none, it returns at.
func (x *extractor) inEnglish(at uint32) uint32 {
	first := uint32(none)
	for of := x.tree.nodes[at].first; of != none; of = x.tree.nodes[of].next {
		if x.tree.empty(of) {
			continue
		}
		if first == none {
			first = of
		}
		language := ""
		if x.tree.nodes[at].kind == '{' {
			language = vocabulary.Language(string(x.tree.quotedName(of)))
		} else {
			language = x.languageOf(of)
		}
		if language == "en" {
			return of
		}
	}
	if first == none {
		return at
	}
	return first
}

// unwrapped returns the text inside a value that only wraps one: a text in several
// languages, a list of one, or an object with a text and its format. Other values are
// returned as they are.
func (x *extractor) unwrapped(at uint32) uint32 {
	for range 3 {
		n := &x.tree.nodes[at]
		switch {
		case n.first == none:
			return at
		case n.kind == '{' && x.isLocalized(at):
			at = x.inEnglish(at)
		case n.kind == '[' && x.tree.nodes[n.first].kind == '{' && x.languageOf(n.first) != "":
			at = x.inEnglish(at)
		case n.kind == '[' && x.tree.nodes[n.first].next == none:
			at = n.first
		case n.kind == '{':
			inner := x.anyMember(at, "value", "rendered", "#text", "$t")
			if inner == none {
				if x.languageOf(at) != "" {
					inner = x.anyMember(at, "text", "title", "name")
				}
				if inner == none {
					return at
				}
			}
			at = inner
		default:
			return at
		}
	}
	return at
}

// quotedName returns the name of a member as it stands in the record, without its quotes;
// one with escapes is decoded.
func (t *tree) quotedName(at uint32) []byte {
	if t.nodes[at].added {
		return t.named(at)
	}
	start, end := t.nameBefore(at)
	name := t.body[start+1 : end-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name, _ = jsontext.AppendUnquote(nil, t.body[start:end]) // parse has checked it
	}
	return name
}

// nameOf returns the name of a value. An element of a list has the name of the list, and
// the record has none.
func (x *extractor) nameOf(at uint32) []byte {
	for at != 0 && x.tree.nodes[at].element {
		at = x.tree.nodes[at].parent
	}
	if at == 0 {
		return nil
	}
	return x.tree.quotedName(at)
}

// fieldNamed returns the field with a name in the document, or of which that is a part, or noField.
func fieldNamed(name string) fieldID {
	name, _, _ = strings.Cut(name, ".")
	return fieldID(1 + slices.Index(fieldIDs[:], name))
}
