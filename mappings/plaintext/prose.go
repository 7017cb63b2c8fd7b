package plaintext

import (
	"unicode"
	"unicode/utf8"
)

// gap is the white space between two pieces of text. If there are several kinds of it
// between them, the widest counts.
type gap int

const (
	noGap gap = iota
	space
	line
	paragraph
)

// prose collects readable text: it writes white space in one form, keeps paragraphs, and
// leaves out invisible characters.
type prose struct {
	buf      []byte
	start    int  // where this text begins in buf
	pending  gap  // before the next word
	newlines int  // since the last word
	breaks   int  // <br> since the last word
	oneLine  bool // a title or a name: every gap is a space
	inMarkup bool // a lone line break is a space
}

func (p *prose) widen(g gap) { p.pending = max(p.pending, g) }

func (p *prose) word(w []byte) {
	if len(p.buf) > p.start && p.pending != noGap {
		separator := [...]string{space: " ", line: "\n", paragraph: "\n\n"}[p.pending]
		if p.oneLine {
			separator = " "
		}
		p.buf = append(p.buf, separator...)
	}
	p.pending, p.newlines, p.breaks = noGap, 0, 0
	p.buf = append(p.buf, w...)
}

func (p *prose) white(c rune) {
	p.widen(space)
	switch c {
	case '\n', '\u2028':
		p.newlines++
		if !p.inMarkup {
			p.widen(line)
		}
		if p.newlines > 1 {
			p.widen(paragraph)
		}
	case '\u2029':
		p.widen(paragraph)
	}
}

func (p *prose) lineBreak() {
	p.breaks++
	p.widen(line)
	if p.breaks > 1 {
		p.widen(paragraph)
	}
}

// write adds text that has no markup and no entities.
func (p *prose) write(s []byte) {
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c > ' ' && c < 0x7f {
			i += max(1, plainWords(s[i:]))
			continue
		}
		if c == ' ' && i > from && i+1 < len(s) && s[i+1] > ' ' && s[i+1] < 0x7f {
			i++ // the usual space between two words stays as it is
			continue
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(s[i:])
		}
		white := unicode.IsSpace(r)
		if !white && !invisible(r) {
			i += size
			continue
		}
		if i > from {
			p.word(s[from:i])
		}
		if white {
			p.white(r)
		}
		i += size
		from = i
	}
	if len(s) > from {
		p.word(s[from:])
	}
}

// invisible reports whether a character is one of those that cannot be seen and would split
// words for a search: controls, soft hyphens, zero-width spaces, byte order marks.
func invisible(r rune) bool {
	return unicode.IsControl(r) || r == 0xad || r == 0x200b || r == 0x2060 || r == 0xfeff
}
