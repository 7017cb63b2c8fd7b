package receiver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/receiver/jsonscan"
)

// whyNoRecord says what is in the place of a record; "" where it may be a record. A record is
// an object with members: anything else would replace a report by an empty one.
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

// whyDeleted says by which member a record tells that its report was deleted; "" if it does not. As a record,
// it would bring back what was deleted, as an empty report.
func (s *splitter) whyDeleted(object []jsonscan.Member) string {
	hasText := slices.ContainsFunc(object, func(m jsonscan.Member) bool {
		return jsonscan.FirstByte(m.Value) == '"' && len(m.Value) > maxAside
	})
	for _, m := range object[:min(len(object), maxNamesRead)] {
		is := false
		switch c := jsonscan.FirstByte(m.Value); { // the value first: few have one that could tell it, and names take longer
		case c == 't', c == '"' && len(m.Value) == len(`"true"`) && strings.EqualFold(string(m.Value), `"true"`):
			is = s.words.vocabulary.Read(m.Name).Concepts == s.words.deleted
		case c == '"' && !hasText && (strings.EqualFold(m.Name, "status") || s.words.isOfEvent(s.words.vocabulary.Read(m.Name))):
			text, _ := quotedText(m.Value)
			of := s.words.vocabulary.Read(text)
			is = !of.Unknown && of.Concepts&s.words.deleted != 0 && of.Concepts&^(s.words.deleted|s.words.own) == 0
		}
		if is {
			return fmt.Sprintf("a note that the report was deleted: %q is %.40s", shortened(m.Name), m.Value)
		}
	}
	return ""
}

// maxUnquoted bounds the strings that are parsed to see whether they contain JSON.
const maxUnquoted = 1 << 20

// holdsJSON reports whether a string contains an object, a list, or a string that does. Of a
// very long string, it examines both ends alone.
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

// holdsNothing reports whether an envelope is empty where its record would be. As a record,
// the envelope would pass for one that says something.
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
