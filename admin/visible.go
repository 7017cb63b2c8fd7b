package admin

import (
	"fmt"
	"strings"
	"unicode"

	"riskdex/report"
)

// What comes from outside is not to deceive: control characters cannot be seen,
// and those for the direction of text can make one text look like another. The
// template escapes what HTML would read.

// longestID is more than the characters of an id can be, but not of what a
// stranger gives for one.
const longestID = 2 * report.MaxIDBytes

// visibleText returns a text, and at most so many of its characters, on one line.
func visibleText(most int, text string) string {
	spaced := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, text)
	return visible(most, spaced, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	})
}

// visibleID returns an id so that it can be told from any other that is shown
// whole.
func visibleID(id string) string {
	return visible(longestID, strings.ReplaceAll(id, `\`, `\\`), func(r rune) bool { return !unicode.IsPrint(r) })
}

func visible(most int, text string, hidden func(rune) bool) string {
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
