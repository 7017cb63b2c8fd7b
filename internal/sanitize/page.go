package sanitize

import (
	"fmt"
	"strings"
	"unicode"
)

// Text returns at most so many characters of a text, on one line, with unsafe ones escaped.
func Text(most int, text string) string {
	spaced := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, text)
	return escape(most, spaced, Unsafe)
}

// ID returns at most so many characters of an id. Everything that is not visible is escaped,
// so that ids that are shown whole can be told apart.
func ID(most int, id string) string {
	return escape(most, strings.ReplaceAll(id, `\`, `\\`), func(r rune) bool { return !unicode.IsPrint(r) })
}

func escape(most int, text string, hidden func(rune) bool) string {
	var safe strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > most {
			return safe.String() + "…"
		}
		if hidden(r) {
			fmt.Fprintf(&safe, `\u{%x}`, r)
		} else {
			safe.WriteRune(r)
		}
	}
	return safe.String()
}
