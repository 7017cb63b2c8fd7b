package jsonscan

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// cursor steps over the values of a piece of JSON that Check has accepted. It looks for
// nothing but where they end: a body is long, and Check has read every letter of it.
type cursor struct {
	raw []byte
	at  int
}

// next moves to the next value or bracket, and returns its first byte, 0 at the end.
// Commas and colons are known to be in the right places.
func (c *cursor) next() byte {
	for ; c.at < len(c.raw); c.at++ {
		switch b := c.raw[c.at]; b {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return b
		}
	}
	return 0
}

// value returns the next value and moves past it.
func (c *cursor) value() []byte {
	first := c.next()
	start := c.at
	switch first {
	case '"':
		c.skipString()
	case '{', '[':
		c.skipNested()
	default:
		c.skipScalar()
	}
	return c.raw[start:c.at:c.at]
}

// name is value for the name of a member, unescaped.
func (c *cursor) name() string {
	quoted := c.value()
	if len(quoted) >= 2 && bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	text, _ := jsontext.AppendUnquote(nil, quoted) // half a surrogate pair becomes U+FFFD
	return string(text)
}

// skipString moves past the string at whose opening quote the cursor is. A quote ends it
// unless an odd number of backslashes precedes that quote.
func (c *cursor) skipString() {
	c.at++
	for {
		n := bytes.IndexByte(c.raw[c.at:], '"')
		if n < 0 {
			c.at = len(c.raw)
			return
		}
		before := c.raw[c.at : c.at+n]
		c.at += n + 1
		if (len(before)-len(bytes.TrimRight(before, `\`)))%2 == 0 {
			return
		}
	}
}

// skipNested moves past the object or array at whose opening bracket the cursor is.
func (c *cursor) skipNested() {
	for depth := 0; c.at < len(c.raw); {
		switch c.raw[c.at] {
		case '"':
			c.skipString()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		c.at++
		if depth == 0 {
			return
		}
	}
}

func (c *cursor) skipScalar() {
	n := bytes.IndexAny(c.raw[c.at:], " \t\r\n,]}")
	if n <= 0 { // the last value, or no JSON
		n = len(c.raw) - c.at
	}
	c.at += n
}
