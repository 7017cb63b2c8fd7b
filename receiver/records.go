package receiver

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// member is one name and value of an object; value is a part of the body.
type member struct {
	name  string
	value []byte
}

// members returns those of the object that raw holds, in order. raw has passed
// checkJSON, so there is nothing left in it that could fail.
func members(raw []byte) []member {
	dec := decoderFor(raw)
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return nil
	}
	var found []member
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil
		}
		text := name.String()
		found = append(found, member{text, nextValue(dec, raw)})
	}
	return found
}

// elements returns those of the array that raw holds, which has passed
// checkJSON.
func elements(raw []byte) [][]byte {
	dec := decoderFor(raw)
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '[' {
		return nil
	}
	var found [][]byte
	for dec.PeekKind() != ']' {
		value := nextValue(dec, raw)
		if value == nil {
			return nil
		}
		found = append(found, value)
	}
	return found
}

// decoderFor leaves out what checkJSON has checked, and takes what it took.
func decoderFor(raw []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// nextValue returns the part of raw that the next value stands in.
func nextValue(dec *jsontext.Decoder, raw []byte) []byte {
	value, err := dec.ReadValue()
	if err != nil {
		return nil
	}
	end := dec.InputOffset()
	return raw[end-int64(len(value)) : end : end]
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
