package receiver

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/receiver/jsonscan"
	"riskdex/report"
)

// idIn returns the id that a record states, as text, and whether it states one. For codes of
// cities only texts count: a number there may be a status code, in an envelope that would then
// pass for a city.
func (s *splitter) idIn(r record) (string, bool) {
	if id, at := s.statedID(r.members); at != "" {
		return id, true
	}
	return first(r.members, s.codeIDs, quotedText)
}

// statedID returns the id at the usual pointers, and where it is. Beside a UUID, which machines have for
// everything, an id by another name is the one that people and paths use, as in {"nid": 7, "uuid": …}.
func (s *splitter) statedID(object []jsonscan.Member) (id string, at jsontext.Pointer) {
	for _, p := range s.ids {
		id, ok := scalarText(jsonscan.LookupMember(object, p))
		if !ok {
			continue
		}
		if s.guess != nil && isUniversal(p) {
			if other, at := s.otherID(object); at != "" {
				return other, at
			}
		}
		return id, p
	}
	return "", ""
}

func isUniversal(p jsontext.Pointer) bool { return p == "/uuid" || p == "/guid" }

// otherID returns the one id beside a UUID that is one by all words of its name.
func (s *splitter) otherID(object []jsonscan.Member) (id string, at jsontext.Pointer) {
	for _, l := range s.guess.likely(record{members: object}) {
		name := string(l.at[min(1, len(l.at)):])
		if !l.sure || l.at.Parent() != "" || isUniversal(l.at) || l.text == id || s.guess.vocabulary.Read(name).Last&s.guess.id == 0 {
			continue
		}
		if at != "" {
			return "", ""
		}
		id, at = l.text, l.at
	}
	return id, at
}

// identify returns the id that a record of a POST states, or else the code that names its city.
// If something looks like an id but is not where the other records have theirs, stated is false,
// and doubt is a sentence about it for the refusal.
func (s *splitter) identify(r record, found *survey) (id string, stated bool, doubt string) {
	if found == nil || s.hasOwnID(r) {
		id, stated = s.idIn(r)
		return id, stated, ""
	}
	if found.at != "" {
		if id, stated = idAfter(found.prefix, jsonscan.LookupMember(r.members, found.at)); stated {
			return id, true, ""
		}
	}
	seen := s.guess.likely(r)
	if len(seen) > 0 && found.known+len(found.candidates) > 0 {
		one := survey{}
		for _, l := range seen {
			one.candidates = append(one.candidates, &candidate{at: l.at, example: l.text, records: 1, sure: l.sure})
		}
		return "", false, " " + one.says(s.kind)
	}
	if id, stated = s.idIn(r); !stated && s.kind == report.Cities {
		if id = s.guess.code(r.members); id != "" {
			return id, true, ""
		}
	}
	return id, stated, ""
}

// hasOwnID reports whether a record has an id at the usual pointers; a code is none.
func (s *splitter) hasOwnID(r record) bool {
	_, at := s.statedID(r.members)
	return at != ""
}

// likelyID returns the one id that a record seems to state where it has none at the usual
// pointers; "" where it seems to state several.
func (s *splitter) likelyID(r record) string {
	if s.guess == nil || s.hasOwnID(r) {
		return ""
	}
	id := ""
	for _, l := range s.guess.likely(r) {
		switch {
		case !l.sure || l.text == id:
		case id != "":
			return ""
		default:
			id = l.text
		}
	}
	return id
}

func (s *splitter) hasID(r record) bool {
	_, ok := s.idIn(r)
	return ok
}

// codeIn returns the three-letter code that a city states, in upper case, or ""; none reports
// that it gives its code up.
func (s *splitter) codeIn(r record) (code string, none bool) {
	if text, ok := first(r.members, s.codes, quotedText); ok {
		return report.CodeOf(text), false
	}
	_, none = first(r.members, s.codes, func(raw []byte) (string, bool) {
		return "", string(raw) == "null" || string(raw) == `""`
	})
	if !none && s.guess != nil && s.kind == report.Cities {
		code = s.guess.code(r.members)
	}
	return code, none
}

// first returns the text of the value at the first pointer where textOf accepts the value.
func first(object []jsonscan.Member, pointers []jsontext.Pointer, textOf func(raw []byte) (string, bool)) (string, bool) {
	for _, p := range pointers {
		if text, ok := textOf(jsonscan.LookupMember(object, p)); ok {
			return text, true
		}
	}
	return "", false
}

// scalarText accepts a number, or a text that is not empty. A JSON number and its text have
// the same form: 130, 130.0, 1.3e2 and "130" are one id.
func scalarText(raw []byte) (string, bool) {
	if c := jsonscan.FirstByte(raw); c == '-' || '0' <= c && c <= '9' {
		return numberText(string(raw)), true
	}
	return quotedText(raw)
}

// halfPair encodes half of a surrogate pair. It is not valid UTF-8, so no id contains it.
const halfPair = "\xed\xa0\x80"

// quotedText accepts a text that is not empty. Half a surrogate pair, which JSON can express
// and UTF-8 cannot, becomes halfPair, because U+FFFD would be another text.
func quotedText(raw []byte) (string, bool) {
	if jsonscan.FirstByte(raw) != '"' {
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return strings.ReplaceAll(string(text), "\ufffd", halfPair), len(text) > 0
	}
	return string(text), len(text) > 0
}

func numberText(literal string) string {
	const exact = 1 << 53 // up to here every whole float64 is the number written
	if !strings.ContainsAny(literal, ".eE") {
		return literal
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || f != float64(int64(f)) || f >= exact || f <= -exact {
		return literal
	}
	return strconv.FormatInt(int64(f), 10)
}
