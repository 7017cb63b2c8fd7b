package mappings

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"riskdex/internal/vocabulary"
)

const (
	maxFact   = 40 // bytes of a value that means nothing without its name
	maxLevel  = 16 // bytes of a level in words
	maxHidden = 80 // bytes of a slug, a type or a language
)

// hidden reports whether a short string is meant for programs rather than people, by its
// name: a link or a slug, an id, a code or a number, the tag of a language, the type of a
// document. A value with a space in it is hidden only if it is a document type.
func (x *extractor) hidden(at uint32, n vocabulary.Name, value []byte) bool {
	bits, spaced := &x.reader.bits, bytes.IndexByte(value, ' ') >= 0
	switch {
	case n.Unknown:
		return n.Last&(bits.link|bits.id) != 0 && !spaced
	case n.Concepts&(bits.link|bits.id) != 0:
		return !spaced
	case n.Concepts&(bits.number|bits.code) != 0:
		return !spaced && bytes.ContainsAny(value, "0123456789")
	case n.Concepts == bits.language:
		return bytes.IndexByte(value, '-') > 0 && vocabulary.IsLanguage(string(value))
	case n.Concepts&bits.category != 0:
		of := x.reader.name(value)
		return !of.Unknown && (n.Concepts|of.Concepts)&^(x.mapping.book.formats|bits.category) == 0
	}
	return false
}

// label returns, in words, the name that a value needs beside it to mean anything, such as
// `Population below poverty line` for `53% (2023 est.)`. It returns "" if the value needs
// none, or if the name has no word that the vocabulary does not know.
func (x *extractor) label(at uint32, n vocabulary.Name, value []byte) string {
	says := x.reader.bits.text | x.reader.bits.threat
	if !n.Unknown && n.Concepts&^says != 0 || len(value) > maxFact || !x.isFact(value) {
		return ""
	}
	for !n.Unknown && n.Concepts&^says == 0 {
		if n.Concepts&x.reader.bits.threat != 0 {
			break // all of its words are known
		}
		if at = x.tree.nodes[at].parent; at == 0 || x.tree.nodes[at].element || x.tree.nodes[at].kind != '{' {
			return ""
		}
		n = x.reader.name(x.tree.quotedName(at))
	}
	if !n.Unknown {
		return ""
	}
	return inWords(string(x.tree.quotedName(at)))
}

// isFact reports whether a short text is a figure, a yes or no, or a level.
func (x *extractor) isFact(value []byte) bool {
	if !bytes.ContainsAny(value, "0123456789") {
		if len(value) > maxLevel {
			return false
		}
		folded := vocabulary.Fold(string(value))
		switch folded {
		case "yes", "no", "none", "unknown", "n/a", "true", "false", "oui", "non", "si", "ja", "nein":
			return true
		}
		_, known := x.mapping.levels[folded]
		return known
	}
	words := 0
	for word := range bytes.FieldsSeq(value) {
		if c, _ := utf8.DecodeRune(bytes.TrimLeft(word, "(")); unicode.IsLetter(c) {
			words++
		}
	}
	return words <= 3
}

// inWords returns a name as a person would write it.
func inWords(name string) string {
	if strings.Contains(name, " ") {
		return strings.TrimRight(strings.TrimSpace(name), ":")
	}
	words := vocabulary.Words(name)
	shouting := strings.ToUpper(name) == name
	for i, word := range words {
		if shouting || strings.ToUpper(word) != word || len(word) == 1 {
			word = strings.ToLower(word)
		}
		if i == 0 {
			first, size := utf8.DecodeRuneInString(word)
			word = string(unicode.ToUpper(first)) + word[size:]
		}
		words[i] = word
	}
	return strings.Join(words, " ")
}
