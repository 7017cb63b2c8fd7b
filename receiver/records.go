package receiver

import (
	"bytes"
	"iter"
	"slices"
	"strconv"
)

// member is one name and value of an object; value is a part of the body.
type member struct {
	name  string
	value []byte
}

// record is one of a payload, or what is looked at as such. Its members are found
// once: a body is long, and each look at it is one more way through all of it.
type record struct {
	raw     []byte
	members []member // nil where it is no object, or an empty one
}

func recordOf(raw []byte) record {
	return record{raw, members(raw)}
}

// members returns those of the object that raw holds, in order. raw has passed
// checkJSON.
func members(raw []byte) []member {
	w := walk{raw: raw}
	if w.next() != '{' {
		return nil
	}
	w.at++
	var found []member
	for w.next() == '"' {
		name := w.name()
		found = append(found, member{name, w.value()})
	}
	return found
}

// elements returns those of the array that raw holds, which has passed checkJSON.
func elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		w := walk{raw: raw}
		if w.next() != '[' {
			return
		}
		w.at++
		for c := w.next(); c != ']' && c != 0; c = w.next() {
			if !yield(w.value()) {
				return
			}
		}
	}
}

// lookup returns the value at p within raw, nil when there is none.
func lookup(raw []byte, p pointer) []byte {
	for _, token := range p {
		switch firstByte(raw) {
		case '{':
			raw = valueOf(members(raw), token)
		case '[':
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 {
				return nil
			}
			raw = elementAt(raw, i)
		default:
			return nil
		}
	}
	return raw
}

// elementAt returns one element of an array, nil where there is none.
func elementAt(raw []byte, i int) []byte {
	for element := range elements(raw) {
		if i == 0 {
			return element
		}
		i--
	}
	return nil
}

func valueOf(list []member, name string) []byte {
	i := slices.IndexFunc(list, func(m member) bool { return m.name == name })
	if i < 0 {
		return nil
	}
	return list[i].value
}

func firstByte(raw []byte) byte {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return 0
	}
	return raw[0]
}
