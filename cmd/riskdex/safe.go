package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// What comes from outside is not to steer a terminal: control characters move
// its cursor or change its colours, and those for the direction of text can make
// one text look like another.

// oneLine puts a text on one line and takes out what could steer a terminal.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if steers(r) {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// visible keeps the lines of a text and writes what could steer a terminal as
// JSON would escape it.
func visible(text string) string {
	var safe strings.Builder
	for _, r := range text {
		if steers(r) && r != '\n' && r != '\t' {
			fmt.Fprintf(&safe, `\u%04x`, r)
		} else {
			safe.WriteRune(r)
		}
	}
	return safe.String()
}

// visibleWriter writes a log, a whole line at a time. A line in JSON remains the
// same JSON, and one of text the same names and values: what steers a terminal
// stands in values alone, and the handlers of log/slog leave some of it as it is.
type visibleWriter struct{ io.Writer }

// Write implements io.Writer.
func (v visibleWriter) Write(line []byte) (int, error) {
	_, err := io.WriteString(v.Writer, visible(string(line)))
	return len(line), err
}

func steers(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// name writes an id so that it can be told from any other, and be pasted into a
// shell.
func name(id string) string {
	plain := func(r rune) bool {
		return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("-_.:/@+,%", r)
	}
	if id != "" && strings.IndexFunc(id, func(r rune) bool { return !plain(r) }) < 0 {
		return id
	}
	if strings.IndexFunc(id, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return "'" + strings.ReplaceAll(id, "'", `'\''`) + "'"
	}
	var quoted strings.Builder
	for _, r := range id {
		switch {
		case r == '\'' || r == '\\':
			quoted.WriteString(`\` + string(r))
		case unicode.IsPrint(r):
			quoted.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&quoted, `\u%04x`, r)
		default:
			fmt.Fprintf(&quoted, `\U%08x`, r)
		}
	}
	return "$'" + quoted.String() + "'"
}

// argument writes an id as an argument of a command. One that begins with a dash
// would be read as a flag.
func argument(id string) string {
	if strings.HasPrefix(id, "-") {
		return "-- " + name(id)
	}
	return name(id)
}
