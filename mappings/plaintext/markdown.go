package plaintext

import "bytes"

// WithoutMarkdown removes Markdown syntax and bare URLs, which nobody reads in a highlight,
// and keeps the words of links. It works in place.
func WithoutMarkdown(s []byte) []byte {
	if !hasMarkdown(s) {
		return s
	}
	kept := s[:0]
	for i := 0; i < len(s); {
		if n := heading(s, i); n > 0 {
			i += n
			continue
		}
		if label, n := link(s[i:]); n > 0 {
			kept = append(kept, WithoutMarkdown(label)...)
			i += n
			continue
		}
		if n := address(s, i); n > 0 {
			if i += n; i < len(s) && s[i] == ' ' && (len(kept) == 0 || kept[len(kept)-1] == ' ') {
				i++
			}
			continue
		}
		if i+1 < len(s) && s[i] == s[i+1] && (s[i] == '*' || s[i] == '_') {
			i += 2
			continue
		}
		kept = append(kept, s[i])
		i++
	}
	return bytes.TrimRight(kept, " \n")
}

// hasMarkdown reports whether s may have Markdown or URLs. Most texts have neither.
func hasMarkdown(s []byte) bool {
	if bytes.ContainsAny(s, "[#") {
		return true
	}
	for _, sign := range []string{"**", "__", "://", "www."} {
		if bytes.Contains(s, []byte(sign)) {
			return true
		}
	}
	return false
}

// heading returns the length of the signs before a heading if a line with one starts at
// s[at], and 0 otherwise.
func heading(s []byte, at int) int {
	if s[at] != '#' || at > 0 && s[at-1] != '\n' {
		return 0
	}
	n := 0
	for at+n < len(s) && s[at+n] == '#' {
		n++
	}
	if n > 6 || at+n == len(s) || s[at+n] != ' ' {
		return 0
	}
	return n + 1
}

// link returns the words of a link or an image at the start of s and the length of all of
// it, which is 0 if there is none.
func link(s []byte) (label []byte, n int) {
	start := 0
	if s[0] == '!' {
		start = 1
	}
	if start == len(s) || s[start] != '[' {
		return nil, 0
	}
	const longest = 500
	end := bytes.Index(s[:min(len(s), longest)], []byte("]("))
	if end < 0 || bytes.IndexByte(s[start+1:end], '\n') >= 0 || bytes.IndexByte(s[start+1:end], '[') >= 0 {
		return nil, 0
	}
	closing := bytes.IndexAny(s[end:min(len(s), end+4*longest)], ")\n")
	if closing < 0 || s[end+closing] != ')' {
		return nil, 0
	}
	return s[start+1 : end], end + closing + 1
}

// address returns the length of a URL at s[at] that begins a word, or 0.
func address(s []byte, at int) int {
	if at > 0 && (isLetter(s[at-1]) || isDigit(s[at-1])) {
		return 0
	}
	rest := s[at:]
	if !bytes.HasPrefix(rest, []byte("http://")) && !bytes.HasPrefix(rest, []byte("https://")) && !bytes.HasPrefix(rest, []byte("www.")) {
		return 0
	}
	n := bytes.IndexAny(rest, " \n<>\"")
	if n < 0 {
		n = len(rest)
	}
	return len(bytes.TrimRight(rest[:n], ".,;:!?)"))
}
