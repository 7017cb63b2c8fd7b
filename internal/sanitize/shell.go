package sanitize

import (
	"fmt"
	"strings"
	"unicode"
)

// ShellWord returns an id as a shell reads it, so that it can be pasted, and told from any
// other id.
func ShellWord(id string) string {
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

// ShellArgument returns an id as an argument of a command. One that begins with a dash would
// be read as a flag.
func ShellArgument(id string) string {
	if strings.HasPrefix(id, "-") {
		return "-- " + ShellWord(id)
	}
	return ShellWord(id)
}
