package receiver

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// idIn returns the id that a record states about itself, as text, and whether
// it states one.
func (s *splitter) idIn(r record) (string, bool) { return firstText(r.members, s.ids) }

func (s *splitter) hasID(r record) bool {
	_, ok := s.idIn(r)
	return ok
}

// codeIn returns the three-letter code that a city states, in upper case, or
// nothing. Anything that is not three letters is some other kind of code, which
// must not become a name for the city.
func (s *splitter) codeIn(r record) string {
	text, _ := firstText(r.members, s.codes)
	if len(text) != 3 || strings.Trim(strings.ToUpper(text), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return ""
	}
	return strings.ToUpper(text)
}

// firstText returns the first number, or text that is not empty, at any of the
// pointers.
func firstText(object []member, pointers []pointer) (string, bool) {
	for _, p := range pointers {
		value := valueOf(object, p[0])
		if value == nil {
			continue
		}
		if text, ok := scalarText(lookup(value, p[1:])); ok {
			return text, true
		}
	}
	return "", false
}

// scalarText gives a JSON number and the text of it the same form: 130, 130.0,
// 1.3e2 and "130" are one id.
func scalarText(raw []byte) (string, bool) {
	switch c := firstByte(raw); {
	case c == '"':
		text, err := jsontext.AppendUnquote(nil, raw)
		return string(text), err == nil && len(text) > 0
	case c == '-' || '0' <= c && c <= '9':
		return numberText(string(raw)), true
	}
	return "", false
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
