package jsonscan

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzValues: the members and elements of whatever passes Check are those that a decoder
// finds, byte for byte, at every level.
func FuzzValues(f *testing.F) {
	for _, text := range []string{
		`{"a":1,"b":{"c":[1,2,{"d":"e"}]},"f":"\"}\\","g\"h\u0041":null, "i" : [ ] }`,
		`[1 , -2.5e3,"x\\\"y" , [[]], {"":"]}"},true]`, `"text"`, `{}`, ` [ ] `, "[\"\\\\\",\"\\\\\\\\\",3]", `{"\ud800":"\ud800"}`, `7`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if Check(raw) == nil {
			sameValues(t, raw)
		} else { // they must return all the same
			_, _ = Members(raw), slices.Collect(Elements(raw))
		}
	})
}

func sameValues(t *testing.T, raw []byte) {
	t.Helper()
	names, values := decoded(t, raw)
	switch FirstByte(raw) {
	case '{':
		got := Members(raw)
		if len(got) != len(values) {
			t.Fatalf("%q has %d members, not %d", raw, len(values), len(got))
		}
		for i, m := range got {
			if m.Name != names[i] || !bytes.Equal(m.Value, values[i]) {
				t.Fatalf("member %d of %q is %q: %q, not %q: %q", i, raw, names[i], values[i], m.Name, m.Value)
			}
		}
	case '[':
		got := slices.Collect(Elements(raw))
		if len(got) != len(values) {
			t.Fatalf("%q has %d elements, not %d", raw, len(values), len(got))
		}
		for i, e := range got {
			if !bytes.Equal(e, values[i]) {
				t.Fatalf("element %d of %q is %q, not %q", i, raw, values[i], e)
			}
		}
	}
	for _, v := range values {
		sameValues(t, v)
	}
}

// decoded returns the direct members of an object or elements of an array.
func decoded(t *testing.T, raw []byte) (names []string, values [][]byte) {
	t.Helper()
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowInvalidUTF8(true))
	kind := dec.PeekKind()
	if kind != '{' && kind != '[' {
		return nil, nil
	}
	_, err := dec.ReadToken()
	for err == nil && dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		if kind == '{' {
			var name jsontext.Token
			if name, err = dec.ReadToken(); err != nil {
				break
			}
			names = append(names, name.String())
		}
		var value jsontext.Value
		value, err = dec.ReadValue()
		values = append(values, bytes.Clone(value))
	}
	if err != nil && err != io.EOF {
		t.Fatalf("decode %q: %v", raw, err)
	}
	return names, values
}

func TestHasScalar(t *testing.T) {
	for raw, want := range map[string]bool{
		``: false, `null`: false, `""`: false, `{"a" : null, "b":[[], {"c":""}]}`: false,
		`0`: true, `false`: true, `"x"`: true, `{"a":{"b":[null, {"c":"x"}]}}`: true, `[[[0]]]`: true,
	} {
		if HasScalar([]byte(raw)) != want {
			t.Errorf("%s: got %v", raw, !want)
		}
	}
}
