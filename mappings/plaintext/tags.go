package plaintext

import (
	"bytes"

	markup "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// writeSimple adds the text of HTML up to the first thing that is neither text nor a tag of
// a known element in the usual form. It returns where that is, or len(s), and how many tags
// came before it.
//
// Nearly all markup is like this, and reading it here is several times faster than with a
// tokenizer that handles everything. The result has to be that of the tokenizer of
// golang.org/x/net/html; FuzzMarkup compares the two.
func (p *prose) writeSimple(s []byte) (at, elements int) {
	for at < len(s) {
		open := at + indexTag(s[at:])
		p.writeEscaped(s[at:open])
		if at = open; at == len(s) {
			break
		}
		tag, length := simpleTag(s[at:])
		if length == 0 {
			break
		}
		p.element(tag)
		at += length
		elements++
	}
	return at, elements
}

// indexTag returns where in s a tag, a comment or another declaration starts: at "<" before
// a letter, "/", "!" or "?". It returns len(s) if there is none.
func indexTag(s []byte) int {
	for from := 0; ; {
		i := bytes.IndexByte(s[from:], '<')
		if i < 0 || from+i+1 == len(s) {
			return len(s)
		}
		from += i + 1
		if c := s[from]; isLetter(c) || c == '/' || c == '!' || c == '?' {
			return from - 1
		}
	}
}

// writeEscaped adds text of HTML, which may have entities.
func (p *prose) writeEscaped(s []byte) {
	if bytes.IndexByte(s, '\r') >= 0 {
		s = bytes.ReplaceAll(bytes.ReplaceAll(s, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	}
	for {
		i := bytes.IndexByte(s, '&')
		if i < 0 {
			p.write(s)
			return
		}
		p.write(s[:i])
		end := i + 1
		if end < len(s) && s[end] == '#' {
			end++
		}
		for end < len(s) && (isLetter(s[end]) || isDigit(s[end])) {
			end++
		}
		if end < len(s) && s[end] == ';' {
			end++
		}
		p.write([]byte(unescape(s[i:end])))
		s = s[end:]
	}
}

// unescape returns what an entity stands for. The common ones need neither the table of all
// entities nor memory.
func unescape(entity []byte) string {
	switch string(entity) {
	case "&amp;":
		return "&"
	case "&nbsp;":
		return "\u00a0"
	case "&rsquo;":
		return "’"
	case "&lsquo;":
		return "‘"
	case "&rdquo;":
		return "”"
	case "&ldquo;":
		return "“"
	case "&ndash;":
		return "–"
	case "&mdash;":
		return "—"
	case "&quot;":
		return `"`
	case "&#39;":
		return "'"
	}
	return markup.UnescapeString(string(entity))
}

// simpleTag reads the tag at the start of s: a start or end tag whose attributes have
// quoted values or none. The length is 0 for anything else, including script and style,
// whose content is not text.
func simpleTag(s []byte) (tag atom.Atom, length int) {
	at := 1
	if s[at] == '/' {
		at++
	}
	var lower [len("blockquote")]byte
	n := 0
	for ; at < len(s) && (isLetter(s[at]) || n > 0 && isDigit(s[at])); at++ {
		if n == len(lower) {
			return 0, 0
		}
		lower[n] = s[at] | 0x20 // a digit has this bit already
		n++
	}
	if tag = atom.Lookup(lower[:n]); tag == 0 || tag == atom.Script || tag == atom.Style {
		return 0, 0
	}
	for at < len(s) {
		switch c := s[at]; {
		case c == '>':
			return tag, at + 1
		case c == '/' && at+1 < len(s) && s[at+1] == '>':
			return tag, at + 2
		case c != ' ' && c != '\n' && c != '\t':
			return 0, 0
		}
		if at = attributeEnd(s, at+1); at == 0 {
			return 0, 0
		}
	}
	return 0, 0
}

// attributeEnd returns where the attribute that starts at s[at] ends: at itself if there is
// none, and 0 if its value is not quoted or does not end.
func attributeEnd(s []byte, at int) int {
	start := at
	for at < len(s) && (isLetter(s[at]) || isDigit(s[at]) || s[at] == '-' || s[at] == '_' || s[at] == ':') {
		at++
	}
	if at == start || at == len(s) || s[at] != '=' {
		return at
	}
	at++
	if at == len(s) || s[at] != '"' && s[at] != '\'' {
		return 0
	}
	value := bytes.IndexByte(s[at+1:], s[at])
	if value < 0 {
		return 0
	}
	return at + 1 + value + 1
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
