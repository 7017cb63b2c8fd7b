package plaintext

import (
	"bytes"

	markup "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Append appends the text of s, which may have HTML markup and entities, as paragraphs
// separated by empty lines.
func Append(dst, s []byte) []byte { return appendPlain(dst, s, false) }

// AppendLine appends the text of s, which may have HTML markup and entities, on one line.
func AppendLine(dst, s []byte) []byte { return appendPlain(dst, s, true) }

func appendPlain(dst, s []byte, oneLine bool) []byte {
	p := prose{buf: dst, start: len(dst), oneLine: oneLine}
	if hasTag(s) && p.writeMarkup(s) {
		return p.buf
	}
	if bytes.IndexByte(s, '&') < 0 {
		p.write(s)
		return p.buf
	}
	plain := []byte(markup.UnescapeString(string(s)))
	if hasTag(plain) && p.writeMarkup(plain) { // the markup itself was escaped
		return p.buf
	}
	p.write(plain)
	return p.buf
}

// hasTag reports whether s may have markup.
func hasTag(s []byte) bool { return indexTag(s) < len(s) }

// writeMarkup adds the text of HTML. If nothing that looks like a tag is one, it adds
// nothing and returns false.
func (p *prose) writeMarkup(s []byte) bool {
	p.inMarkup = true
	at, elements := p.writeSimple(s)
	if at == len(s) && elements > 0 {
		return true
	}
	return p.writeTokens(s, at, elements)
}

// writeTokens adds the text of HTML from s[at] on, where a token starts. elements counts
// the elements before it.
func (p *prose) writeTokens(s []byte, at, elements int) bool {
	hidden := false // inside script or style
	unknown := 0    // tags that HTML does not have
	for z := markup.NewTokenizer(bytes.NewReader(s[at:])); ; {
		kind := z.Next()
		raw := s[at : at+len(z.Raw())]
		at += len(raw)
		switch kind {
		case markup.ErrorToken:
			if elements > 0 {
				p.write(raw) // a tag that never ends is text after all
				return true
			}
			*p = prose{buf: p.buf[:p.start], start: p.start, oneLine: p.oneLine}
			return false
		case markup.TextToken:
			if !hidden {
				p.write(z.Text())
			}
		case markup.CommentToken:
			elements++
			if raw[len(raw)-1] != '>' {
				p.write(raw)
			}
		case markup.DoctypeToken:
			elements++
		case markup.StartTagToken, markup.SelfClosingTagToken:
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			if hidden = tag == atom.Script || tag == atom.Style; !hidden {
				z.NextIsNotRawText()
			}
			if tag == 0 {
				if unknown++; unknown <= maxUnknown && !hasEnd(s[at:], raw) {
					p.write(raw)
					continue
				}
			}
			elements++
			p.element(tag)
		case markup.EndTagToken:
			name, _ := z.TagName()
			hidden = false
			elements++
			p.element(atom.Lookup(name))
		}
	}
}

// maxUnknown bounds the work of looking for end tags.
const maxUnknown = 50

// hasEnd distinguishes <para>, which some markup has, from <your name>, which is text: a
// tag has an attribute with a value, closes itself, or is closed later on.
func hasEnd(rest, raw []byte) bool {
	name := raw[1 : 1+bytes.IndexAny(raw[1:], " \n\r\t\f/>")] // a tag ends with ">"
	return bytes.IndexByte(raw, '=') >= 0 || bytes.HasSuffix(raw, []byte("/>")) ||
		bytes.Contains(rest, append([]byte("</"), name...))
}

// element adds the white space that a tag stands for.
func (p *prose) element(tag atom.Atom) {
	switch tag {
	case atom.Br:
		p.lineBreak()
	case 0, atom.Td, atom.Th, atom.Img, atom.Button, atom.Input, atom.Label, atom.Iframe:
		p.widen(space)
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption, atom.Center,
		atom.Dd, atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt, atom.Fieldset,
		atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5,
		atom.H6, atom.Head, atom.Header, atom.Hr, atom.Html, atom.Legend, atom.Li, atom.Main, atom.Menu,
		atom.Nav, atom.Ol, atom.Option, atom.P, atom.Pre, atom.Script, atom.Section, atom.Style,
		atom.Summary, atom.Table, atom.Tbody, atom.Textarea, atom.Tfoot, atom.Thead, atom.Title, atom.Tr, atom.Ul:
		p.widen(paragraph)
	}
}
