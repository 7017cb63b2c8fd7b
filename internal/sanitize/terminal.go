package sanitize

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Unsafe reports whether a character is a control character or one that changes the
// direction of text.
func Unsafe(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// OneLine returns a text on one line, with single spaces in place of unsafe characters and
// runs of white space.
func OneLine[T ~string](text T) string {
	safe := strings.Map(func(r rune) rune {
		if Unsafe(r) {
			return ' '
		}
		return r
	}, string(text))
	return strings.Join(strings.Fields(safe), " ")
}

// Lines keeps the lines and tabs of a text and escapes other unsafe characters as JSON
// does.
func Lines(text string) string {
	var safe strings.Builder
	for _, r := range text {
		if Unsafe(r) && r != '\n' && r != '\t' {
			fmt.Fprintf(&safe, `\u%04x`, r)
		} else {
			safe.WriteRune(r)
		}
	}
	return safe.String()
}

// LogWriter writes the lines of a log, of which each Write has whole ones, with Lines. The
// handlers of log/slog leave some unsafe characters as they are, in values alone, so a line
// in JSON remains the same JSON, and one of text has the same names and values.
type LogWriter struct{ io.Writer }

// Write implements io.Writer.
func (w LogWriter) Write(line []byte) (int, error) {
	_, err := io.WriteString(w.Writer, Lines(string(line)))
	return len(line), err
}
