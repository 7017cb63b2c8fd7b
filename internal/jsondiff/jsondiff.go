// Package jsondiff compares two JSON values, by JSON Pointers (RFC 6901).
package jsondiff

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Change is a place in which two values differ. Old or New is nil if there is nothing at that
// place.
type Change struct {
	Pointer  jsontext.Pointer // empty for the whole value
	Old, New any              // as encoding/json decodes them, with numbers as json.Number
}

// Compare returns where two JSON texts differ: the innermost places, in the order of their
// pointers' members. Elements of arrays are compared by position.
func Compare(a, b []byte) ([]Change, error) {
	was, err := decode(a)
	if err != nil {
		return nil, err
	}
	is, err := decode(b)
	if err != nil {
		return nil, err
	}
	return walk(nil, "", was, is), nil
}

// absent stands for a place where there is nothing, which is not null.
type absent struct{}

var errMore = errors.New("there is more than one JSON value")

func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errMore
	}
	return v, nil
}

func walk(list []Change, at jsontext.Pointer, a, b any) []Change {
	switch was := a.(type) {
	case map[string]any:
		if is, ok := b.(map[string]any); ok {
			return walkObjects(list, at, was, is)
		}
	case []any:
		if is, ok := b.([]any); ok {
			for i := range max(len(was), len(is)) {
				list = walk(list, at.AppendToken(strconv.Itoa(i)), element(was, i), element(is, i))
			}
			return list
		}
	default:
		switch b.(type) {
		case map[string]any, []any: // which cannot be compared by ==
		default:
			if a == b {
				return list
			}
		}
	}
	return append(list, Change{at, present(a), present(b)})
}

func walkObjects(list []Change, at jsontext.Pointer, a, b map[string]any) []Change {
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, is := any(absent{}), any(absent{})
		if v, ok := a[name]; ok {
			was = v
		}
		if v, ok := b[name]; ok {
			is = v
		}
		list = walk(list, at.AppendToken(name), was, is)
	}
	return list
}

func element(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return absent{}
}

// Null is null in JSON.
type Null struct{}

// MarshalJSON implements json.Marshaler.
func (Null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

func present(v any) any {
	switch v.(type) {
	case absent:
		return nil
	case nil:
		return Null{}
	}
	return v
}

// The most changes that Words tells of, and the longest text in characters that it quotes.
const (
	mostWords   = 6
	longestWord = 24
)

// Words tells of changes in a few words: "risk_level 2 → 4, text +312 −40".
func Words(changes []Change) string {
	var words []string
	for i, c := range changes {
		if i == mostWords {
			words = append(words, fmt.Sprintf("and %d more", len(changes)-i))
			break
		}
		words = append(words, c.words())
	}
	return strings.Join(words, ", ")
}

func (c Change) words() string {
	name := strings.Join(slices.Collect(c.Pointer.Tokens()), "/")
	if name == "" {
		name = "the record"
	}
	was, old := c.Old.(string)
	is, text := c.New.(string)
	switch {
	case c.Old == nil:
		return name + " added"
	case c.New == nil:
		return name + " removed"
	case old && text && max(utf8.RuneCountInString(was), utf8.RuneCountInString(is)) > longestWord:
		added, removed := apart(was, is)
		return fmt.Sprintf("%s +%d −%d", name, added, removed)
	}
	return fmt.Sprintf("%s %s → %s", name, Short(c.Old, longestWord), Short(c.New, longestWord))
}

// Short returns a value in at most so many characters, and one for what was cut.
func Short(v any, most int) string {
	if v == nil {
		return "nothing"
	}
	text, ok := v.(string)
	if !ok {
		raw, err := json.Marshal(v)
		if err != nil {
			return err.Error() // of no value that was decoded
		}
		text = string(raw)
	}
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// apart returns how many characters were added and removed between what two texts begin and
// end with alike.
func apart(a, b string) (added, removed int) {
	was, is := []rune(a), []rune(b)
	for len(was) > 0 && len(is) > 0 && was[0] == is[0] {
		was, is = was[1:], is[1:]
	}
	for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	return len(is), len(was)
}
