package receiver

import (
	"bytes"
	"strings"
)

// maxIDShown bounds how much of an id that is too long an answer repeats.
const maxIDShown = 600

func shortened(id string) string {
	if len(id) <= maxIDShown {
		return id
	}
	return strings.ToValidUTF8(id[:maxIDShown], "") + "…"
}

func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func trimSpace(body []byte) []byte { return bytes.Trim(body, " \t\r\n") }

// idPlaces lists the pointers at which an id is looked for.
func (s *splitter) idPlaces() string {
	places := make([]string, len(s.ids))
	for i, p := range s.ids {
		places[i] = "/" + strings.Join(p, "/")
	}
	return strings.Join(places, ", ")
}
