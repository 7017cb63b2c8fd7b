package receiver

import (
	"bytes"
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
func elements(raw []byte) [][]byte {
	w := walk{raw: raw}
	if w.next() != '[' {
		return nil
	}
	w.at++
	var found [][]byte
	for c := w.next(); c != ']' && c != 0; c = w.next() {
		found = append(found, w.value())
	}
	return found
}

// lookup returns the value at p within raw, nil when there is none.
func lookup(raw []byte, p pointer) []byte {
	for _, token := range p {
		switch firstByte(raw) {
		case '{':
			raw = valueOf(members(raw), token)
		case '[':
			list := elements(raw)
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(list) {
				return nil
			}
			raw = list[i]
		default:
			return nil
		}
	}
	return raw
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
