package jsonscan

import (
	"bytes"
	"iter"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Member is a member of an object.
type Member struct {
	Name  string // unescaped
	Value []byte // as it stands in the object
}

// Members returns the members of an object, in order; nil where raw is not an object, or an
// empty one.
func Members(raw []byte) []Member {
	c := cursor{raw: raw}
	if c.next() != '{' {
		return nil
	}
	c.at++
	var found []Member
	for c.next() == '"' {
		name := c.name()
		found = append(found, Member{name, c.value()})
	}
	return found
}

// HasMembers reports whether raw is an object that is not empty.
func HasMembers(raw []byte) bool {
	c := cursor{raw: raw}
	if c.next() != '{' {
		return false
	}
	c.at++
	return c.next() == '"'
}

// HasScalar reports whether anywhere in raw is a value other than null, an empty text, or objects and
// arrays of nothing else.
func HasScalar(raw []byte) bool {
	c := cursor{raw: raw}
	for {
		switch c.next() {
		case 0:
			return false
		case '{', '}', '[', ']':
			c.at++
		case 'n':
			c.skipScalar()
		case '"':
			text := c.value()
			if rest := bytes.TrimLeft(raw[c.at:], " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
				continue // the name of a member
			}
			if len(text) > len(`""`) {
				return true
			}
		default:
			return true
		}
	}
}

// Elements yields the elements of an array; none where raw is not an array.
func Elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		c := cursor{raw: raw}
		if c.next() != '[' {
			return
		}
		c.at++
		for b := c.next(); b != ']' && b != 0; b = c.next() {
			if !yield(c.value()) {
				return
			}
		}
	}
}

// IsEmptyArray reports whether raw is an array without elements.
func IsEmptyArray(raw []byte) bool {
	c := cursor{raw: raw}
	if c.next() != '[' {
		return false
	}
	c.at++
	return c.next() == ']'
}

// Element returns the element of an array at index i, nil where there is none.
func Element(raw []byte, i int) []byte {
	for element := range Elements(raw) {
		if i == 0 {
			return element
		}
		i--
	}
	return nil
}

// Only returns the element of an array of one; nil where raw is anything else.
func Only(raw []byte) []byte {
	if Element(raw, 1) != nil {
		return nil
	}
	return Element(raw, 0)
}

// Value returns the value of the member with that name, nil where there is none.
func Value(members []Member, name string) []byte {
	i := slices.IndexFunc(members, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return members[i].Value
}

// Lookup returns the value that p leads to from raw, nil where there is none.
func Lookup(raw []byte, p jsontext.Pointer) []byte {
	for token := range p.Tokens() {
		raw = child(raw, token)
	}
	return raw
}

// LookupMember is Lookup in an object whose members are known. p is not empty.
func LookupMember(members []Member, p jsontext.Pointer) []byte {
	var value []byte
	inside := false
	for token := range p.Tokens() {
		if inside {
			value = child(value, token)
		} else {
			value, inside = Value(members, token), true
		}
		if value == nil {
			return nil
		}
	}
	return value
}

// child returns the value one token of a pointer below raw, nil where there is none.
func child(raw []byte, token string) []byte {
	switch FirstByte(raw) {
	case '{':
		return Value(Members(raw), token)
	case '[':
		if i, err := strconv.Atoi(token); err == nil && i >= 0 {
			return Element(raw, i)
		}
	}
	return nil
}

// FirstByte returns the first byte of a value, which tells its kind; 0 where there is only
// white space.
func FirstByte(raw []byte) byte {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return 0
	}
	return raw[0]
}

// TrimSpace returns raw without the white space of JSON around it.
func TrimSpace(raw []byte) []byte { return bytes.Trim(raw, " \t\r\n") }
