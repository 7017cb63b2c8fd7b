package plaintext

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// AppendReadable appends what a person would read in the string s: its text without markup,
// or nothing if it is an address, an id, a date or a file. isDate reports whether a text is
// a date.
func AppendReadable(dst, s []byte, isDate func([]byte) bool) []byte {
	s = bytes.TrimSpace(s)
	if IsBinary(s) {
		return dst
	}
	start := len(dst)
	dst = appendPlain(dst, s, false)
	plain := withoutLongRuns(dst[start:])
	if !isReadable(plain, isDate) {
		return dst[:start]
	}
	return dst[:start+len(WithoutMarkdown(plain))]
}

// IsBinary reports whether s is a file rather than text: base64, a data: URI,
// or bytes with control characters.
func IsBinary(s []byte) bool {
	if bytes.HasPrefix(s, []byte("%PDF-")) {
		return true
	}
	head := s[:min(len(s), 4096)]
	if bytes.HasPrefix(head, []byte("data:")) && bytes.IndexByte(head, ',') > 0 && !bytes.ContainsAny(head, " \n") {
		return true
	}
	const few = 4 // a text may have stray ones
	n := countControls(head)
	return n > few && n > len(head)/16 || isBase64(s)
}

// countControls counts the control characters that are not white space.
func countControls(s []byte) int {
	n := 0
	for i := 0; i < len(s); i++ {
		for i+8 <= len(s) && controls(binary.LittleEndian.Uint64(s[i:])) == 0 {
			i += 8
		}
		if i < len(s) && s[i] < ' ' && s[i] != '\n' && s[i] != '\r' && s[i] != '\t' {
			n++
		}
	}
	return n
}

// isBase64 recognizes base64, on one line or on many, by its alphabet and by lines that are
// longer than words.
func isBase64(s []byte) bool {
	if bytes.HasPrefix(s, []byte("JVBERi0")) && bytes.IndexByte(s, ' ') < 0 { // a PDF
		return true
	}
	lines, run := 0, 0
	for _, c := range s {
		switch {
		case inBase64(c):
			run++
		case c != '\n' && c != '\r' && c != ' ':
			return false
		case run >= minBase64:
			lines, run = lines+1, 0
		case run > 0:
			return false
		}
	}
	return lines > 0 || run >= minBase64 // the last line may be short
}

// minBase64, in bytes, is longer than words are and shorter than the lines of base64.
const minBase64 = 40

func inBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '+' || c == '/' || c == '=' || c == '-' || c == '_'
}

// maxRun is the length in bytes of the longest run of letters and digits that can be a
// word. Longer ones, such as an image within a text, are cut out.
const maxRun = 128

// withoutLongRuns removes runs that are longer than maxRun, in place.
func withoutLongRuns(s []byte) []byte {
	kept, from := 0, 0
	for {
		start := longRun(s, from)
		if start < 0 {
			return s[:kept+copy(s[kept:], s[from:])]
		}
		kept += copy(s[kept:], s[from:start])
		for from = start; from < len(s) && inBase64(s[from]); from++ {
		}
	}
}

// longRun returns where the first run that is longer than maxRun starts, at from or after,
// or -1. It looks at about one byte in a hundred: one that cannot be in a word rules out
// every run across it.
func longRun(s []byte, from int) int {
	for from+maxRun < len(s) {
		i := from + maxRun
		for i >= from && inBase64(s[i]) {
			i--
		}
		if i < from {
			return from
		}
		from = i + 1
	}
	return -1
}

// isReadable reports whether plain text has a word in it that is for people.
func isReadable(s []byte, isDate func([]byte) bool) bool {
	if !hasLetter(s) || isDate(s) {
		return false
	}
	if len(s) == 2 && s[0] < 0x80 { // the code of a country or a language
		return false
	}
	for word := range bytes.FieldsSeq(s) {
		if !isAddress(word) && !isOpaque(word) {
			return true
		}
	}
	return false
}

func hasLetter(s []byte) bool {
	for _, c := range s {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80 {
			return true
		}
	}
	return false
}

// isAddress reports whether a word is a URL, a path or the name of a file.
func isAddress(word []byte) bool {
	if bytes.Contains(word, []byte("://")) || word[0] == '/' && len(word) > 1 {
		return true
	}
	for _, prefix := range []string{"www.", "mailto:", "tel:", "urn:", "application/", "image/", "text/"} {
		if len(word) > len(prefix) && bytes.EqualFold(word[:len(prefix)], []byte(prefix)) {
			return true
		}
	}
	dot := bytes.LastIndexByte(word, '.')
	if dot < 1 || len(word)-dot > len(".docx") {
		return false
	}
	switch string(bytes.ToLower(word[dot+1:])) {
	case "pdf", "jpg", "jpeg", "png", "gif", "svg", "webp", "tif", "tiff", "html", "htm", "xml", "json", "zip", "docx":
		return true
	}
	return false
}

// isOpaque reports whether a word is an id, a hash or a token: hexadecimal, or
// long with digits and letters of both cases, or padded base64.
func isOpaque(word []byte) bool {
	if len(word) >= 8 && len(word)%4 == 0 && word[len(word)-1] == '=' {
		return true
	}
	if len(word) < 16 {
		return false
	}
	var digit, upper, lower, beyondHex bool
	for _, c := range word {
		switch {
		case '0' <= c && c <= '9':
			digit = true
		case 'a' <= c && c <= 'z':
			lower, beyondHex = true, beyondHex || c > 'f'
		case 'A' <= c && c <= 'Z':
			upper, beyondHex = true, beyondHex || c > 'F'
		case !inBase64(c):
			return false
		}
	}
	return digit && (!beyondHex || upper && lower)
}

// FirstWords returns the first words of s that fit into n bytes. It cuts a word only if
// that is longer than maxRun. s must have more than n bytes, and n must be some hundred at
// least.
func FirstWords(s []byte, n int) []byte {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	if i := bytes.LastIndexAny(s[n-maxRun:n], " \n"); i >= 0 {
		n += i - maxRun
	}
	return bytes.TrimRight(s[:n], " \n")
}
