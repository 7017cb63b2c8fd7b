package receiver

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// idIn returns the id that a record states about itself, as text, and whether
// it states one. A number is no code of a city, but may be that of an error or a
// success, in an envelope which would then pass for a city.
func (s *splitter) idIn(r record) (string, bool) {
	if id, ok := first(r.members, s.ids, scalarText); ok {
		return id, true
	}
	return first(r.members, s.codeIDs, quotedText)
}

func (s *splitter) hasID(r record) bool {
	_, ok := s.idIn(r)
	return ok
}

// codeIn returns the three-letter code that a city states, in upper case, or
// nothing. Anything that is not three letters is some other kind of code, which
// must not become a name for the city.
func (s *splitter) codeIn(r record) string {
	text, _ := first(r.members, s.codes, quotedText)
	if len(text) != 3 || strings.Trim(strings.ToUpper(text), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return ""
	}
	return strings.ToUpper(text)
}

// first returns what textOf takes of the value at the first of the pointers at which it
// takes any.
func first(object []member, pointers []pointer, textOf func(raw []byte) (string, bool)) (string, bool) {
	for _, p := range pointers {
		value := valueOf(object, p[0])
		if value == nil {
			continue
		}
		if text, ok := textOf(lookup(value, p[1:])); ok {
			return text, true
		}
	}
	return "", false
}

// scalarText takes a number, or a text that is not empty. It gives a JSON number and
// the text of it the same form: 130, 130.0, 1.3e2 and "130" are one id.
func scalarText(raw []byte) (string, bool) {
	if c := firstByte(raw); c == '-' || '0' <= c && c <= '9' {
		return numberText(string(raw)), true
	}
	return quotedText(raw)
}

// quotedText takes a text that is not empty.
func quotedText(raw []byte) (string, bool) {
	if firstByte(raw) != '"' {
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	return string(text), err == nil && len(text) > 0
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
