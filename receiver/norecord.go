package receiver

import (
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/receiver/jsonscan"
)

// whyNoRecord says what stands in the place of a record, and "" where it may be one. A
// record is an object that says something: anything else that was delivered in the place
// of a report would leave an empty one.
func whyNoRecord(raw []byte) string {
	switch jsonscan.FirstByte(raw) {
	case '{':
		if !jsonscan.HasMembers(raw) {
			return "an empty object"
		}
		return ""
	case '[':
		if jsonscan.IsEmptyArray(raw) {
			return "an empty list"
		}
		return "a list"
	case '"':
		if holdsJSON(raw) {
			return "a string that holds JSON: encoded twice?"
		}
		return "a text"
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	}
	return "a number"
}

// maxUnquoted bounds the strings that are read to see whether they hold JSON.
const maxUnquoted = 1 << 20

// holdsJSON tells whether a string holds an object, a list, or a string that does. Of one
// that is very long its two ends are enough.
func holdsJSON(raw []byte) bool {
	text := jsonscan.TrimSpace(raw)
	if len(text) < 2 || text[0] != '"' {
		return false
	}
	if len(text) <= maxUnquoted {
		inner, err := jsontext.AppendUnquote(nil, text)
		c := jsonscan.FirstByte(inner)
		return err == nil && (c == '{' || c == '[' || c == '"') && jsonscan.Check(inner) == nil
	}
	text = text[1 : len(text)-1]
	return text[0] == '{' && text[len(text)-1] == '}' || text[0] == '[' && text[len(text)-1] == ']'
}

// holdsNothing tells whether an envelope has nothing where its record would be. Taken
// for a record itself, it would pass for one that says something.
func holdsNothing(raw []byte) bool {
	switch jsonscan.FirstByte(raw) {
	case 'n':
		return true
	case '"':
		return holdsJSON(raw) || string(jsonscan.TrimSpace(raw)) == `""`
	case '[':
		for e := range jsonscan.Elements(raw) {
			if jsonscan.FirstByte(e) != 'n' {
				return false
			}
		}
		return true
	}
	return false
}
