package receiver

import (
	"slices"

	"riskdex/report"
)

// splitter finds the records of one kind in a payload, and in each record what
// names it.
type splitter struct {
	kind    report.Kind
	ids     []pointer
	codes   []pointer // for cities only
	records []pointer // stated by the operator
}

// maxEnvelopes is how many envelopes may stand around each other, such as
// `{"data": {"cities": […]}}`.
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

// isEnvelopeMeta tells the members that may stand beside the records in an
// envelope without being a part of a record.
func isEnvelopeMeta(name string) bool {
	return slices.Contains([]string{
		"meta", "metadata", "links", "jsonapi", "included", "type", "event", "event_type", "eventType", "action",
		"timestamp", "created_at", "sent_at", "version", "count", "total", "page", "pagination", "status", "success",
	}, name)
}

// list returns the records of the payload of a POST. Each needs an id of its
// own, so an object without one that holds records with one is an envelope.
func (s *splitter) list(body []byte) [][]byte {
	return s.unwrap(body, maxEnvelopes, func(object []member) []byte {
		for _, name := range envelopeNames(s.kind) {
			if inner := valueOf(object, name); s.holdsRecords(inner) {
				return inner
			}
		}
		return nil
	})
}

// holdsRecords tells whether raw is a record with an id, an envelope, or a list
// in which there are objects. In a list each answers for itself: that one has
// no id must not keep the others out.
func (s *splitter) holdsRecords(raw []byte) bool {
	if firstByte(raw) == '{' {
		return s.hasID(raw) || s.onlyEnvelope(members(raw)) != nil
	}
	return holdsObjects(raw)
}

// one returns the record in the payload of a PUT, whose id is in the path. The
// record may be anything, so only what can be nothing but an envelope is taken
// off: a known name with at most the usual metadata beside it. What holds
// several records is one record as a whole, rather than none.
func (s *splitter) one(body []byte) []byte {
	if found := s.unwrap(body, maxEnvelopes, s.onlyEnvelope); len(found) == 1 {
		return found[0]
	}
	return body
}

// onlyEnvelope returns what an object holds when it is an envelope and nothing
// else.
func (s *splitter) onlyEnvelope(object []member) []byte {
	var inner []byte
	for _, m := range object {
		switch {
		case inner == nil && slices.Contains(envelopeNames(s.kind), m.name) && holdsObjects(m.value):
			inner = m.value
		case !isEnvelopeMeta(m.name):
			return nil
		}
	}
	return inner
}

// unwrap takes off up to depth envelopes and flattens arrays. open returns what
// is inside an object, nil when the object is a record.
func (s *splitter) unwrap(raw []byte, depth int, open func([]member) []byte) [][]byte {
	for _, p := range s.records {
		if inner := lookup(raw, p); inner != nil {
			return flatten(inner)
		}
	}
	switch first := firstByte(raw); {
	case first == '[':
		var found [][]byte
		for _, element := range elements(raw) {
			if firstByte(element) == '[' || depth == 0 {
				found = append(found, element)
				continue
			}
			found = append(found, s.unwrap(element, depth-1, open)...)
		}
		return found
	case first == '{' && depth > 0 && !s.hasID(raw):
		if inner := open(members(raw)); inner != nil {
			return s.unwrap(inner, depth-1, open)
		}
	}
	return [][]byte{raw}
}

func flatten(raw []byte) [][]byte {
	if firstByte(raw) == '[' {
		return elements(raw)
	}
	return [][]byte{raw}
}

// holdsObjects tells whether raw is an object or a list in which there are some.
func holdsObjects(raw []byte) bool {
	switch firstByte(raw) {
	case '{':
		return true
	case '[':
		return slices.ContainsFunc(elements(raw), func(e []byte) bool { return firstByte(e) == '{' })
	}
	return false
}
