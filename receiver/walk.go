package receiver

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// walk goes over the values of a piece of JSON that has passed checkJSON. So it looks
// for where they end and for nothing else: a body is long, and has been read once,
// letter by letter, by then. Of other input it makes nonsense, and ends all the same.
type walk struct {
	raw []byte
	at  int
}

// next goes to the next value or bracket, and returns the byte that it begins with, 0
// at the end. Commas and colons stand where they have to.
func (w *walk) next() byte {
	for ; w.at < len(w.raw); w.at++ {
		switch c := w.raw[w.at]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return c
		}
	}
	return 0
}

// value returns the value that comes next, and goes behind it.
func (w *walk) value() []byte {
	first := w.next()
	start := w.at
	switch first {
	case '"':
		w.passText()
	case '{', '[':
		w.passNested()
	default:
		w.passScalar()
	}
	return w.raw[start:w.at:w.at]
}

// name is value, for the name of a member.
func (w *walk) name() string {
	quoted := w.value()
	if len(quoted) >= 2 && bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	text, _ := jsontext.AppendUnquote(nil, quoted) // half a surrogate pair becomes U+FFFD
	return string(text)
}

// passText goes behind the text whose opening quote it stands on. A quote ends it
// unless an odd number of backslashes stands before that.
func (w *walk) passText() {
	w.at++
	for {
		n := bytes.IndexByte(w.raw[w.at:], '"')
		if n < 0 {
			w.at = len(w.raw)
			return
		}
		before := w.raw[w.at : w.at+n]
		w.at += n + 1
		if (len(before)-len(bytes.TrimRight(before, `\`)))%2 == 0 {
			return
		}
	}
}

// passNested goes behind the object or array whose bracket it stands on.
func (w *walk) passNested() {
	for depth := 0; w.at < len(w.raw); {
		switch w.raw[w.at] {
		case '"':
			w.passText()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		w.at++
		if depth == 0 {
			return
		}
	}
}

func (w *walk) passScalar() {
	n := bytes.IndexAny(w.raw[w.at:], " \t\r\n,]}")
	if n <= 0 { // it is the last, or nonsense
		n = len(w.raw) - w.at
	}
	w.at += n
}
