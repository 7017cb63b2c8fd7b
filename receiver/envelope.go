package receiver

import (
	"fmt"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

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
}

// record is one record of a payload, or what is examined as such. Its members are found
// once: a body is long, and each scan goes through all of it.
type record struct {
	raw     []byte
	members []jsonscan.Member // nil where it is no object, or an empty one
}

func recordOf(raw []byte) record { return record{raw, jsonscan.Members(raw)} }

// maxEnvelopes is how deep envelopes may be nested, as in `{"data": {"cities": […]}}`.
const maxEnvelopes = 4

// envelopeNames are the names under which comparable feeds wrap their records.
func envelopeNames(kind report.Kind) []string {
	common := []string{"data", "items", "records", "results", "payload"}
	switch kind {
	case report.Cities:
		return append([]string{"city", "cities", "city_report", "city_reports", "cityReport", "cityReports"}, common...)
	case report.Advisories:
		return append([]string{"advisory", "advisories"}, common...)
	default:
		return append([]string{
			"special_report", "special_reports", "specialReport", "specialReports",
			"special-report", "special-reports", "report", "reports",
		}, common...)
	}
}

// isEnvelopeMeta reports whether a member may be beside the records in an envelope without
// being a part of a record.
func isEnvelopeMeta(name string) bool {
	return slices.Contains([]string{
		"meta", "metadata", "links", "jsonapi", "included", "type", "event", "event_type", "eventType", "action",
		"timestamp", "created_at", "sent_at", "generated", "generated_at", "generatedAt", "version", "count", "total", "page", "pagination", "status", "success",
	}, name)
}

// list yields the records of the payload of a POST. Each needs an id of its own, so an object
// without an id that contains records with one is an envelope.
func (s *splitter) list(body []byte) iter.Seq[record] {
	return func(yield func(record) bool) {
		s.unwrap(body, maxEnvelopes, s.envelope, yield)
	}
}

// envelope returns the records in an object without an id, nil where there are none.
func (s *splitter) envelope(object []jsonscan.Member) []byte {
	if name, inner := s.namedEnvelope(object); inner != nil {
		if s.moreBeside(object, name) != "" {
			return nil
		}
		return inner
	}
	if inner := s.onlyEnvelope(object); s.holdsEmptyList(inner, maxEnvelopes) {
		return inner
	}
	return s.unknownEnvelope(object, maxUnknown)
}

// namedEnvelope returns the records under one of the known names, with that name; nil if there are none.
func (s *splitter) namedEnvelope(object []jsonscan.Member) (name string, inner []byte) {
	for _, name := range envelopeNames(s.kind) {
		if inner := jsonscan.Value(object, name); s.holdsRecords(inner) && !s.isOwn(object, inner) {
			return name, inner
		}
	}
	return "", nil
}

// maxUnknown is how deep envelopes of unknown names may be nested, as in
// `{"response": {"docs": […]}}`.
const maxUnknown = 2

// unknownEnvelope returns the records in an envelope whose name riskdex does not know, nil
// where there are none. A record without an id may have parts with ids, so the object must
// have nothing but one member with records, whose name does not mean a part of a report, and
// metadata beside it that state no id.
func (s *splitter) unknownEnvelope(object []jsonscan.Member, depth int) []byte {
	var inner []byte
	geoJSON := isGeoJSONList(object)
	for _, m := range object {
		c := jsonscan.FirstByte(m.Value)
		switch nested := c == '{' || c == '['; {
		case inner == nil && nested && (s.mayWrap(m.Name) || geoJSON && m.Name == "features") && s.statesIDs(m.Value, depth-1):
			inner = m.Value
		case nested && !geoJSON && s.isMore(m):
			return nil
		case geoJSON, isEnvelopeMeta(m.Name), s.words.isMeta(m.Name, c):
		default:
			return nil
		}
	}
	if inner == nil || jsonscan.FirstByte(inner) == '{' && s.statesLikely(object) {
		return nil // in the latter case it is a record whose id is further down
	}
	beside := slices.DeleteFunc(slices.Clone(object), func(m jsonscan.Member) bool { return string(m.Value) == string(inner) })
	if len(s.words.likely(record{members: beside})) > 0 || s.words.code(beside) != "" {
		return nil
	}
	return inner
}

// moreBeside returns the name of what stands beside the records under a name and could be more of
// them, or of their ids; empty if nothing does. To open the envelope would lose that silently.
func (s *splitter) moreBeside(object []jsonscan.Member, name string) string {
	i := slices.IndexFunc(object, func(m jsonscan.Member) bool {
		c := jsonscan.FirstByte(m.Value)
		switch {
		case m.Name == name, c != '{' && c != '[', isEnvelopeMeta(m.Name):
			return false
		case s.isMore(m):
			return true
		case s.words.isMeta(m.Name, c):
			return false
		case c == '[':
			return !holdsNothing(m.Value)
		}
		return slices.Contains(envelopeNames(s.kind), m.Name) && holdsSomething(m.Value) || s.holdsList(m.Value)
	})
	if i < 0 {
		return ""
	}
	return object[i].Name
}

// whyNotOpened says why an object is neither a record nor an envelope that can be opened; empty if
// it is one of the two.
func (s *splitter) whyNotOpened(r record) string {
	if r.members == nil || s.hasID(r) {
		return ""
	}
	name, inner := s.namedEnvelope(r.members)
	if inner == nil {
		return ""
	}
	more := s.moreBeside(r.members, name)
	if more == "" {
		return ""
	}
	return fmt.Sprintf("Beside the records under %q, %q may hold more of them, or their ids. "+
		"Send each list in a delivery of its own, and deletes as DELETE.", name, more)
}

// holdsSomething reports whether an object has a value other than null, empty texts and empty lists.
func holdsSomething(object []byte) bool {
	return slices.ContainsFunc(jsonscan.Members(object), func(m jsonscan.Member) bool {
		if jsonscan.FirstByte(m.Value) == '{' {
			return holdsSomething(m.Value)
		}
		return !holdsNothing(m.Value)
	})
}

// holdsList reports whether a member of an object is a list with objects in it.
func (s *splitter) holdsList(object []byte) bool {
	return slices.ContainsFunc(jsonscan.Members(object), func(m jsonscan.Member) bool {
		return jsonscan.FirstByte(m.Value) == '[' && holdsObjects(m.Value)
	})
}

// isMore reports whether a member beside the records of an envelope seems to hold records,
// too, which would be lost with it: those that were updated, beside new ones.
func (s *splitter) isMore(m jsonscan.Member) bool {
	return (jsonscan.FirstByte(m.Value) == '[' || s.words.isOfTime(m.Name)) && s.statesIDs(m.Value, 0)
}

// isGeoJSONList reports whether an object is a list of features (RFC 7946).
func isGeoJSONList(object []jsonscan.Member) bool {
	return string(jsonscan.Value(object, "type")) == `"FeatureCollection"`
}

// mayWrap reports whether records may be under a name: one that means them, or one with no
// words that mean anything else.
func (s *splitter) mayWrap(name string) bool {
	n := s.words.vocabulary.Read(name)
	return !n.Within && n.Concepts&^(s.words.own|s.words.about) == 0
}

// statesIDs reports whether raw is an object that seems to state an id or the code of a city,
// a list that begins with one, or an envelope of such objects. Two different objects of a
// list with the same id state that of something else.
func (s *splitter) statesIDs(raw []byte, depth int) bool {
	one := raw
	if jsonscan.FirstByte(raw) == '[' {
		one = jsonscan.Element(raw, 0)
	}
	if jsonscan.FirstByte(one) != '{' {
		return false
	}
	r := recordOf(one)
	if s.hasID(r) || s.guess != nil && (len(s.guess.likely(r)) > 0 || s.guess.code(r.members) != "") {
		return jsonscan.FirstByte(raw) != '[' || s.distinct(raw)
	}
	return depth > 0 && s.unknownEnvelope(r.members, depth) != nil
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
		id, ok := first(members, s.ids, scalarText)
		if !ok {
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
	return s.guess != nil && slices.ContainsFunc(s.guess.likely(record{members: object}), func(l likely) bool { return l.sure })
}

// isOwn reports whether an object with a member named like an envelope is a record all the
// same: it seems to state an id, and the member states none.
func (s *splitter) isOwn(object []jsonscan.Member, inner []byte) bool {
	if jsonscan.FirstByte(inner) == '[' {
		inner = jsonscan.Element(inner, 0)
	}
	r := recordOf(inner)
	return s.statesLikely(slices.DeleteFunc(slices.Clone(object), func(m jsonscan.Member) bool { return slices.Contains(envelopeNames(s.kind), m.Name) })) &&
		!s.hasID(r) && !s.statesLikely(r.members)
}

// holdsEmptyList reports whether raw is an empty list, in envelopes or not: a snapshot of a
// day on which there is nothing.
func (s *splitter) holdsEmptyList(raw []byte, depth int) bool {
	if jsonscan.FirstByte(raw) == '{' && depth > 0 {
		r := recordOf(raw)
		return !s.hasID(r) && s.holdsEmptyList(s.onlyEnvelope(r.members), depth-1)
	}
	return jsonscan.IsEmptyArray(raw)
}

// holdsRecords reports whether raw is a record with an id, an envelope, or a list with
// objects in it. The objects of a list are judged one by one: one without an id must not keep
// the others out.
func (s *splitter) holdsRecords(raw []byte) bool {
	if jsonscan.FirstByte(raw) == '{' {
		r := recordOf(raw)
		return s.hasID(r) || s.statesLikely(r.members) || holdsObjects(s.onlyEnvelope(r.members))
	}
	return holdsObjects(raw)
}

// one returns the record in the payload of a PUT. Its id is in the path, so it may have any
// shape, and only an object that can be nothing but an envelope is unwrapped: a known name with
// at most the usual metadata beside it. An empty envelope is unwrapped too, or it would pass for
// a record. If there are several records inside, the whole payload is the record. If there is
// none, missing says what is there instead.
func (s *splitter) one(body []byte) (_ record, missing string) {
	first, found, full := record{raw: []byte("[]")}, 0, false
	s.unwrap(body, maxEnvelopes, s.onlyEnvelope, func(r record) bool {
		if found++; found == 1 {
			first = r
		}
		full = full || r.members != nil
		return found == 1 || !full
	})
	if found > 1 && full {
		return recordOf(body), ""
	}
	return first, whyNoRecord(first.raw)
}

// onlyEnvelope returns the content of an object, objects or nothing, if the object is an
// envelope and nothing else.
func (s *splitter) onlyEnvelope(object []jsonscan.Member) []byte {
	var inner []byte
	for _, m := range object {
		switch {
		case inner == nil && slices.Contains(envelopeNames(s.kind), m.Name) && (holdsObjects(m.Value) || holdsNothing(m.Value)):
			inner = m.Value
		case !isEnvelopeMeta(m.Name):
			return nil
		}
	}
	return inner
}

// unwrap removes up to depth envelopes, flattens arrays, and calls yield with each record
// until that returns false, which unwrap then returns too. open returns the content of an
// envelope, nil for a record.
func (s *splitter) unwrap(raw []byte, depth int, open func([]jsonscan.Member) []byte, yield func(record) bool) bool {
	for _, p := range s.records {
		if inner := jsonscan.Lookup(raw, p); inner != nil {
			return flatten(inner, yield)
		}
	}
	if jsonscan.FirstByte(raw) == '[' {
		for element := range jsonscan.Elements(raw) {
			next := false
			if jsonscan.FirstByte(element) == '[' || depth == 0 {
				next = yield(recordOf(element))
			} else {
				next = s.unwrap(element, depth-1, open, yield)
			}
			if !next {
				return false
			}
		}
		return true
	}
	r := recordOf(raw)
	if r.members != nil && depth > 0 && !s.hasID(r) {
		if inner := open(r.members); inner != nil {
			return s.unwrap(inner, depth-1, open, yield)
		}
	}
	return yield(r)
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
