package receiver

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/mappings/gazetteer"
	"riskdex/receiver/jsonscan"
	"riskdex/report"
)

// splitter finds the records of one kind in a payload, and the id and code of each record.
type splitter struct {
	kind    report.Kind
	ids     []jsontext.Pointer
	codeIDs []jsontext.Pointer // where a text is an id if there is none at ids
	codes   []jsontext.Pointer // for cities only
	records []jsontext.Pointer // stated by the operator
	words   *guesser
	guess   *guesser // words; nil where the operator states where ids are
	noID    string   // the detail of a refusal for want of an id

	countries func() (*gazetteer.Gazetteer, error)
}

// record is one record of a payload, or what is examined as such. Its members are found
// once: a body is long, and each scan goes through all of it.
type record struct {
	raw     []byte
	members []jsonscan.Member // nil where it is not an object, or an empty one
	around  *around           // what of its envelope is kept with it; nil for most
	made    bool              // raw is not a part of the payload
}

func recordOf(raw []byte) record { return record{raw: raw, members: jsonscan.Members(raw)} }

// maxEnvelopes is how deep envelopes may be nested, those of lists and of their elements, as in
// `{"data": {"cities": {"edges": [{"node": {…}}]}}}`.
const maxEnvelopes = 6

// manyRecords is the number of elements from which on a list outweighs the name it stands under,
// and from which on values that all differ do so by intent.
const manyRecords = 10

// envelope is what is known of an object that is opened: where its records are, and what beside
// them is kept with each. If beside is not empty, a member of that name may hold more records, and
// the object is left closed.
type envelope struct {
	inner  []byte
	made   bool // inner is a list that was made of an object
	name   string
	around *around
	beside string
}

// opener opens envelopes. In the payload of a PUT, whose id is in its path, the record may have any
// shape, so only what can be nothing but an envelope is opened.
type opener struct {
	*splitter
	put    bool
	opened map[openedAt]envelope // what was found, since each level asks the ones below
}

type openedAt struct {
	object *byte // the first byte of its first value
	depth  int
	listed bool
}

func newOpener(s *splitter, put bool) opener { return opener{s, put, map[openedAt]envelope{}} }

// list yields the records of the payload of a POST. Each needs an id of its own.
func (s *splitter) list(body []byte) iter.Seq[record] {
	o := newOpener(s, false)
	if len(s.records) == 0 && s.guess != nil && o.isClosed(recordOf(body)) {
		if found := o.byContent(body); found != nil {
			return found
		}
	}
	return func(yield func(record) bool) { o.unwrap(body, maxEnvelopes, false, nil, yield) }
}

// isClosed reports whether a payload is not a list of one kind of record, and no envelope of one that the names in
// it tell how to open. A record that has an id and says something is none, and the usual case.
func (o opener) isClosed(r record) bool {
	switch {
	case r.members == nil:
		return jsonscan.FirstByte(jsonscan.Element(r.raw, 0)) == '['
	case o.hasID(r):
		return !o.isMessage(r.members) && o.firstBeside(without(r.members, func(m jsonscan.Member) bool {
			c := jsonscan.FirstByte(m.Value)
			return c == '{' || c == '[' || o.hasID(record{members: []jsonscan.Member{m}})
		}), true) == ""
	case o.listOf("", r.raw) != nil || o.isMessage(r.members):
		return false
	}
	e := o.open(r.members, maxEnvelopes, false)
	return e.inner == nil || e.beside != "" || o.byType(jsonscan.Member{Value: e.inner}) != nil
}

// one returns the record in the payload of a PUT. If there are several records inside, the whole
// payload is the record: nothing may be lost. If there is none, as in an envelope of nothing, which
// would pass for a record, missing says what is there instead.
func (s *splitter) one(body []byte) (_ record, missing string) {
	first, found, full := record{raw: []byte("[]")}, 0, false
	newOpener(s, true).unwrap(body, maxEnvelopes, false, nil, func(r record) bool {
		if found++; found == 1 {
			first = r
		}
		full = full || r.members != nil
		return found == 1 || !full
	})
	if found > 1 && full {
		return recordOf(body), ""
	}
	if missing = whyNoRecord(first.raw); missing == "" {
		missing = s.whyDeleted(first.members)
	}
	return first, missing
}

// unwrap removes up to depth envelopes, flattens arrays, and calls yield with each record until
// that returns false, which unwrap then returns too. listed says that raw is the element of a list.
func (o opener) unwrap(raw []byte, depth int, listed bool, kept *around, yield func(record) bool) bool {
	for _, p := range o.records {
		if inner := jsonscan.Lookup(raw, p); inner != nil {
			return flatten(inner, yield)
		}
	}
	if jsonscan.FirstByte(raw) == '[' {
		return o.unwrapElements(raw, depth, kept, yield)
	}
	r := record{raw: raw, members: jsonscan.Members(raw), around: kept}
	if r.members != nil && depth > 0 && (!o.hasID(r) || o.isMessage(r.members)) && o.whyDeleted(r.members) == "" {
		if list := o.listOf("", raw); list != nil {
			return o.unwrapList(list, kept, yield)
		}
		if e := o.open(r.members, depth, listed); e.inner != nil && e.beside == "" {
			if e.around != nil {
				e.around.outer, kept = kept, e.around
			}
			if e.made {
				return o.unwrapList(e.inner, kept, yield)
			}
			return o.unwrap(e.inner, depth-1, listed, kept, yield)
		}
	}
	return yield(r)
}

// unwrapElements unwraps the elements of a list.
func (o opener) unwrapElements(list []byte, depth int, kept *around, yield func(record) bool) bool {
	for element := range jsonscan.Elements(list) {
		next := false
		clear(o.opened)
		if jsonscan.FirstByte(element) == '[' || depth == 0 {
			next = yield(record{raw: element, members: jsonscan.Members(element), around: kept})
		} else {
			next = o.unwrap(element, depth-1, true, kept, yield)
		}
		if !next {
			return false
		}
	}
	return true
}

// unwrapList unwraps the elements of a list that was made of an object.
func (o opener) unwrapList(list []byte, kept *around, yield func(record) bool) bool {
	for element := range jsonscan.Elements(list) {
		if !yield(record{raw: element, members: jsonscan.Members(element), around: kept, made: true}) {
			return false
		}
	}
	return true
}

func flatten(raw []byte, yield func(record) bool) bool {
	if jsonscan.FirstByte(raw) != '[' {
		return yield(recordOf(raw))
	}
	for element := range jsonscan.Elements(raw) {
		if !yield(recordOf(element)) {
			return false
		}
	}
	return true
}

// open finds the records in an object without an id by where the content is, whatever it is
// called. What stands beside them has to be something that a sender says of the delivery, or be
// related to the records and kept with them; anything else would be lost silently.
func (o opener) open(object []jsonscan.Member, depth int, listed bool) envelope {
	if len(object) == 0 {
		return envelope{}
	}
	at := openedAt{&object[0].Value[0], depth, listed}
	e, known := o.opened[at]
	if !known {
		e = o.find(object, depth, listed)
		o.opened[at] = e
	}
	return e
}

func (o opener) find(object []jsonscan.Member, depth int, listed bool) envelope {
	if m, ok := newState(object); ok {
		rest := without(object, func(other jsonscan.Member) bool { return isState(other.Name) })
		if o.statesID(recordOf(m.Value)) || o.firstBeside(rest, false) == "" {
			return envelope{inner: m.Value, name: m.Name}
		}
		return envelope{}
	}
	var inside []jsonscan.Member
	made, size := map[string]bool{}, valueBytes(object)
	for _, m := range object {
		if list := o.listOf(m.Name, m.Value); list != nil {
			m.Value, made[m.Name] = list, true
		}
		if listed && !o.put && 2*len(m.Value) > size {
			if text := o.recordIn(m.Value); text != nil {
				return envelope{inner: text, name: m.Name}
			}
		}
		if o.mayHold(m, depth, listed) {
			inside = append(inside, m)
		}
	}
	switch {
	case len(inside) == 0:
		return o.openEmpty(object)
	case len(inside) > maxLists: // each would have to be compared with all others
		return envelope{inner: inside[0].Value, name: inside[0].Name, beside: inside[1].Name}
	}
	// Of several, the records are those that refer to the objects of all others.
	slices.SortStableFunc(inside, func(a, b jsonscan.Member) int {
		strong := func(m jsonscan.Member) int {
			if o.words.meansRecords(m.Name) {
				return 0
			}
			return 1
		}
		return cmp.Or(strong(a)-strong(b), len(b.Value)-len(a.Value))
	})
	first := envelope{}
	for _, m := range inside {
		e := o.openAt(object, m, depth)
		e.made = made[m.Name]
		if e.inner != nil && e.beside == "" {
			return e
		}
		if first.inner == nil {
			first = e
		}
	}
	return first
}

// recordIn returns the object that a text holds as JSON if it states an id, as the bodies of messages in
// a queue do; else nil.
func (o opener) recordIn(raw []byte) []byte {
	if len(raw) > maxUnquoted || !bytes.HasPrefix(raw, []byte(`"{`)) {
		return nil
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil || jsonscan.Check(text) != nil || !o.statesID(recordOf(text)) {
		return nil
	}
	return text
}

func valueBytes(object []jsonscan.Member) (n int) {
	for _, m := range object {
		n += len(m.Value)
	}
	return n
}

// mayHold reports whether records may be in a member: in a list of objects, in an object that
// states an id, or in envelopes there.
func (o opener) mayHold(m jsonscan.Member, depth int, listed bool) bool {
	if isMeta(m.Name) || isNothing(m.Value) {
		return false
	}
	means := o.words.meansRecords(m.Name)
	switch jsonscan.FirstByte(m.Value) {
	case '[':
		return holdsObjects(m.Value) && (means || !listed)
	case '{':
		if o.put && means || o.statesID(recordOf(m.Value)) {
			return true
		}
		return depth > 1 && o.open(jsonscan.Members(m.Value), depth-1, listed).inner != nil
	}
	return false
}

// openAt opens an object at the member that may hold its records.
func (o opener) openAt(object []jsonscan.Member, m jsonscan.Member, depth int) envelope {
	list := jsonscan.FirstByte(m.Value) == '['
	means, features := o.words.meansRecords(m.Name), list && m.Name == "features" && isGeoJSONList(object)
	var all []byte // many records, in further envelopes or not
	if !o.put {
		all = o.manyIn(m.Value, depth)
	}
	many := all != nil
	ofMessage := o.isMessage(object)
	beside := without(object, func(other jsonscan.Member) bool {
		return other.Name == m.Name || ofMessage && o.hasID(record{members: []jsonscan.Member{other}})
	})
	if now, ok := newState(jsonscan.Members(m.Value)); ok && o.words.mayWrap(m.Name) && o.statesID(recordOf(now.Value)) {
		return envelope{inner: m.Value, name: m.Name}
	}
	if carried := ofMessage || means && o.tellsEvent(object, m); carried && o.put {
		if len(without(beside, o.isOfMessage)) == 0 && !o.saysMore(beside, m.Value) {
			return envelope{inner: m.Value, name: m.Name}
		}
	}
	switch {
	case o.isOwn(beside, m.Value):
		return envelope{}
	case !o.words.mayWrap(m.Name) && !features && !many:
		return envelope{}
	case !list && !o.statesIDs(m.Value, depth-1) && !(o.put && means):
		return envelope{}
	case list && !means && (o.put && jsonscan.Element(m.Value, 1) != nil || !o.distinct(m.Value)):
		return envelope{}
	case !means && (o.statesLikely(beside) || o.words.code(beside) != ""),
		!means && !many && len(o.words.likely(record{members: beside})) > 0:
		return envelope{} // a record whose parts have ids
	}
	e := envelope{inner: m.Value, name: m.Name}
	e.around = o.keptWith(m, beside)
	beside = without(beside, func(other jsonscan.Member) bool { return e.around.keeps(other.Name) })
	switch {
	case features, list && o.words.isOfKind(m.Name) && means && !o.put:
		e.beside = o.moreBeside(beside)
	case list && !o.put && means, many && isRich(all):
		of := m.Value
		if many && isRich(all) {
			of = all
			beside = without(beside, func(other jsonscan.Member) bool {
				return o.isAside(other, many, maxEnvelopes) || o.isLegend(all, other)
			})
		}
		if e.beside = o.moreBeside(beside); e.beside == "" && o.isReport(beside, of, many) {
			return envelope{}
		}
	case o.firstBeside(beside, many) != "", !list && o.put && o.saysMore(beside, m.Value):
		return envelope{}
	}
	return e
}

// openEmpty opens an object that has nothing, or nothing yet, where its records would be.
func (o opener) openEmpty(object []jsonscan.Member) envelope {
	i := slices.IndexFunc(object, func(m jsonscan.Member) bool {
		return !isMeta(m.Name) && (isNothing(m.Value) || o.holdsEmptyList(m.Value, maxEnvelopes))
	})
	if i < 0 {
		return envelope{}
	}
	m := object[i]
	rest := without(object, func(other jsonscan.Member) bool { return other.Name == m.Name || isNothing(other.Value) })
	isList := o.holdsEmptyList(m.Value, maxEnvelopes)
	named := o.words.meansRecords(m.Name) || o.words.mayWrap(m.Name) && (!o.put || len(rest) == 0)
	if (o.put || isList) && named && o.firstBeside(rest, false) == "" {
		return envelope{inner: m.Value, name: m.Name}
	}
	return envelope{}
}

// whyNotOpened says why an object is neither a record nor an envelope that can be opened; empty if
// it is one of the two.
func (s *splitter) whyNotOpened(r record) string {
	if r.members == nil || s.hasID(r) {
		return ""
	}
	e := newOpener(s, false).open(r.members, maxEnvelopes, false)
	if e.beside == "" {
		return ""
	}
	return fmt.Sprintf("Beside the records under %q, %q may hold more of them, or their ids. "+
		"Send each list in a delivery of its own, and deletes as DELETE.", e.name, e.beside)
}

func without(object []jsonscan.Member, drop func(jsonscan.Member) bool) []jsonscan.Member {
	return slices.DeleteFunc(slices.Clone(object), drop)
}

// manyIn returns raw, or the list in envelopes in it, if it has so many objects that it is not a part of one
// record; else nil.
func (o opener) manyIn(raw []byte, depth int) []byte {
	if jsonscan.FirstByte(raw) == '{' {
		if depth <= 1 {
			return nil
		}
		return o.manyIn(o.open(jsonscan.Members(raw), depth-1, false).inner, depth-1)
	}
	n := 0
	for element := range jsonscan.Elements(raw) {
		if jsonscan.FirstByte(element) == '{' {
			if n++; n == manyRecords {
				return raw
			}
		}
	}
	return nil
}

// isNothing reports whether a value has nothing but null, empty texts and empty lists.
func isNothing(raw []byte) bool {
	if jsonscan.FirstByte(raw) != '{' {
		return holdsNothing(raw)
	}
	return !jsonscan.HasScalar(raw)
}

// holdsList reports whether a member of an object is a list with objects in it.
func (s *splitter) holdsList(object []byte) bool {
	return slices.ContainsFunc(jsonscan.Members(object), func(m jsonscan.Member) bool {
		return jsonscan.FirstByte(m.Value) == '[' && holdsObjects(m.Value)
	})
}

// isMore reports whether a member beside the records of an envelope seems to hold records,
// too, which would be lost with it: those that were updated, beside new ones.
func (o opener) isMore(m jsonscan.Member) bool {
	stating := func(k keyed) bool { return o.statesID(recordOf(k.object)) }
	return (jsonscan.FirstByte(m.Value) == '[' || o.words.isOfTime(m.Name)) && o.statesIDs(m.Value, 0) || slices.ContainsFunc(keyedIn(m.Value, ""), stating)
}

// isGeoJSONList reports whether an object is a list of features (RFC 7946).
func isGeoJSONList(object []jsonscan.Member) bool {
	return string(jsonscan.Value(object, "type")) == `"FeatureCollection"`
}

// statesID reports whether a record seems to state an id or the code of a city.
func (s *splitter) statesID(r record) bool {
	return s.hasID(r) || s.guess != nil && (len(s.guess.likely(r)) > 0 || s.guess.code(r.members) != "")
}

// statesIDs reports whether raw is an object that seems to state an id or the code of a city,
// a list that begins with one, or an envelope of such objects. Two different objects of a
// list with the same id state that of something else.
func (o opener) statesIDs(raw []byte, depth int) bool {
	one := raw
	if jsonscan.FirstByte(raw) == '[' {
		one = jsonscan.Element(raw, 0)
	}
	if jsonscan.FirstByte(one) != '{' {
		return false
	}
	r := recordOf(one)
	if o.statesID(r) {
		return jsonscan.FirstByte(raw) != '[' || o.distinct(raw)
	}
	return depth > 0 && o.open(r.members, depth, false).inner != nil
}

// distinct reports whether no two different objects of a list have the same id at the usual
// pointers, and whether they are more than versions of one record in several languages.
func (s *splitter) distinct(list []byte) bool {
	seed, bodies := maphash.MakeSeed(), map[uint64]uint64{}
	languages, n := map[string]bool{}, 0
	for element := range jsonscan.Elements(list) {
		if n++; n > maxRecords {
			break
		}
		members := recordOf(element).members
		if len(languages) == n-1 {
			if language := s.words.languageOf(members); language != "" {
				languages[language] = true
			}
		}
		id, at := s.statedID(members)
		if at == "" {
			continue
		}
		key, body := maphash.String(seed, id), maphash.Bytes(seed, element)
		if other, seen := bodies[key]; seen && other != body {
			return false
		}
		bodies[key] = body
	}
	return n < 2 || len(languages) < n
}

// statesLikely reports whether a member of an object is an id by the words of its name.
func (s *splitter) statesLikely(object []jsonscan.Member) bool {
	if s.guess == nil {
		return false
	}
	found := s.guess.likely(record{members: object})
	return slices.ContainsFunc(found, func(l likely) bool { return l.sure })
}

// isOwn reports whether an object is a record though there seem to be records in a member of it:
// what is beside that states an id, and the member states none.
func (s *splitter) isOwn(beside []jsonscan.Member, inner []byte) bool {
	if jsonscan.FirstByte(inner) == '[' {
		inner = jsonscan.Element(inner, 0)
	}
	r := recordOf(inner)
	return s.statesLikely(beside) && !s.hasID(r) && !s.statesLikely(r.members)
}

// holdsEmptyList reports whether raw is an empty list, in envelopes or not: a snapshot of a
// day on which there is nothing.
func (o opener) holdsEmptyList(raw []byte, depth int) bool {
	if jsonscan.FirstByte(raw) == '{' && depth > 0 {
		members := jsonscan.Members(raw)
		e := o.openEmpty(members)
		return e.inner != nil && o.holdsEmptyList(e.inner, depth-1)
	}
	return jsonscan.IsEmptyArray(raw)
}

// holdsObjects reports whether raw is an object, or a list with an object in it.
func holdsObjects(raw []byte) bool {
	switch jsonscan.FirstByte(raw) {
	case '{':
		return true
	case '[':
		for element := range jsonscan.Elements(raw) {
			if jsonscan.FirstByte(element) == '{' {
				return true
			}
		}
	}
	return false
}
