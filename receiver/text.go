package receiver

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxIDShown bounds how many bytes of an id an answer repeats.
const maxIDShown = 600

func shortened(id string) string {
	if len(id) <= maxIDShown {
		return id
	}
	return strings.ToValidUTF8(id[:maxIDShown], "") + "…"
}

func sentence(err error) string {
	text := err.Error()
	return ended(strings.ToUpper(text[:1]) + text[1:])
}

// ended adds a full stop to a text that has no end.
func ended(text string) string {
	if strings.HasSuffix(text, "?") || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

// idPlaces says where ids are expected.
func (s *splitter) idPlaces() string {
	text := "number or text at " + spelled(s.ids)
	if len(s.codeIDs) > 0 {
		text += ", nor a text at " + spelled(s.codeIDs)
	}
	return text
}

func spelled(pointers []jsontext.Pointer) string {
	places := make([]string, len(pointers))
	for i, p := range pointers {
		places[i] = string(p)
	}
	return strings.Join(places, ", ")
}
