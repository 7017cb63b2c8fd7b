package gazetteer

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"riskdex/internal/letters"
)

// Plain returns a name as it is searched: letters with their marks composed, no
// apostrophes, and one space in place of spaces, dashes, commas, full stops and brackets.
func Plain(name string) string {
	if isPlain(name) {
		return name
	}
	var plain []byte
	space := false
	for _, r := range norm.NFC.String(name) {
		switch kindOf(r) {
		case nothing:
			continue
		case separator:
			space = len(plain) > 0
			continue
		}
		if space {
			plain, space = append(plain, ' '), false
		}
		plain = utf8.AppendRune(plain, r)
	}
	return string(plain)
}

// isPlain reports whether a name is certainly in the form of Plain, as those of the built-in
// tables are.
func isPlain(name string) bool {
	wordBefore := false
	for _, r := range name {
		if k := kindOf(r); k == nothing || k == separator && (r != ' ' || !wordBefore) {
			return false
		}
		wordBefore = r != ' '
	}
	return wordBefore && norm.NFC.IsNormalString(name)
}

// Fold returns a name in the form in which names are compared: as Plain returns it, with the
// letters that are the same to somebody who searches folded to one.
func Fold(name string) string {
	var space [64]byte
	folded, ok := appendFoldedASCII(space[:0], name)
	switch {
	case !ok:
		return string(new(folder).fold(name))
	case string(folded) == name:
		return name
	}
	return string(folded)
}

// appendFoldedASCII appends Fold of a name that is ASCII, as most are that are looked up; ok is
// false for others.
func appendFoldedASCII(dst []byte, name string) (folded []byte, ok bool) {
	start, space := len(dst), false
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c >= 0x80 || c == '&':
			return dst, false
		default:
			switch kindOf(rune(c)) {
			case nothing:
				continue
			case separator:
				space = len(dst) > start
				continue
			}
		}
		if space {
			dst, space = append(dst, ' '), false
		}
		dst = append(dst, c)
	}
	return dst, true
}

// folder folds names one after the other, reusing its memory.
type folder struct{ composed, folded []byte }

// fold is Fold. Its result is valid until the next call.
func (f *folder) fold(name string) []byte {
	var ok bool
	if f.folded, ok = appendFoldedASCII(f.folded[:0], name); ok {
		return f.folded
	}
	f.composed = norm.NFC.AppendString(f.composed[:0], name)
	dst, space := f.folded[:0], false
	for rest := f.composed; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		rest = rest[size:]
		switch kindOf(r) {
		case nothing:
			continue
		case separator:
			space = len(dst) > 0
			continue
		}
		if space {
			dst, space = append(dst, ' '), false
		}
		if r == '&' {
			dst = append(dst, "and"...)
		} else {
			dst = letters.Append(dst, r)
		}
	}
	f.folded = dst
	return dst
}

type kind int

const (
	letter kind = iota
	separator
	nothing
)

func kindOf(r rune) kind {
	switch r {
	case '\'', '`', '’', '‘', 'ʼ', 'ʻ', 'ʿ', 'ʾ', '′', '´', '＇', '׳':
		return nothing
	case ' ', ',', '.', '(', ')':
		return separator
	}
	switch {
	case r >= 'A' && r <= 'Z', r >= 'a' && r <= 'z':
		return letter
	case unicode.IsSpace(r), unicode.Is(unicode.Pd, r):
		return separator
	case unicode.IsControl(r):
		return nothing
	}
	return letter
}
