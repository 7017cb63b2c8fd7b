package mappings

import (
	"errors"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// pattern says where in a record a value is: a JSON pointer (RFC 6901) in which `*` stands
// for every element of an array. Member names match regardless of case, `_` and `-`, so
// /risk_level finds riskLevel too. The empty pattern is the record itself.
type pattern struct {
	text  jsontext.Pointer
	steps []step
}

type step struct {
	name  string // folded
	every bool   // `*`
	index int    // of an element if the name is a number; else -1
}

var errPattern = errors.New(`a pointer is "" or starts with "/"; "~" is written ~0 and "/" in a name ~1`)

func parsePattern(text jsontext.Pointer) (pattern, error) {
	if !text.IsValid() {
		return pattern{}, errPattern
	}
	p := pattern{text: text}
	for name := range text.Tokens() {
		if name == "*" {
			p.steps = append(p.steps, step{every: true, index: -1})
			continue
		}
		index := -1
		if n, err := strconv.ParseUint(name, 10, 31); err == nil && (name == "0" || name[0] != '0') {
			index = int(n)
		}
		p.steps = append(p.steps, step{name: string(appendFolded(nil, []byte(name))), index: index})
	}
	return p, nil
}

// UnmarshalJSONFrom reads a pattern from a string of a mapping file.
func (p *pattern) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	if token.Kind() != '"' {
		return errPattern
	}
	*p, err = parsePattern(jsontext.Pointer(token.String()))
	return err
}

// MarshalJSONTo writes the pattern as it was read.
func (p pattern) MarshalJSONTo(e *jsontext.Encoder) error {
	return e.WriteToken(jsontext.String(string(p.text)))
}

// find appends to dst the values that steps lead to, in document order. There are no more
// of them than nodes in the record.
func (t *tree) find(dst []uint32, from uint32, steps []step) []uint32 {
	if len(steps) == 0 {
		return append(dst, from)
	}
	parent := &t.nodes[from]
	if parent.kind == '[' && steps[0].index >= 0 {
		at := parent.first
		for n := steps[0].index; n > 0 && at != none; n-- {
			at = t.nodes[at].next
		}
		if at == none {
			return dst
		}
		return t.find(dst, at, steps[1:])
	}
	if steps[0].every != (parent.kind == '[') || parent.kind != '[' && parent.kind != '{' {
		return dst
	}
	for at := parent.first; at != none; at = t.nodes[at].next {
		if steps[0].every || string(t.named(at)) == steps[0].name {
			dst = t.find(dst, at, steps[1:])
		}
	}
	return dst
}

// appendFolded appends name in lower case without `_` and `-`.
func appendFolded(dst, name []byte) []byte {
	for _, c := range name {
		switch {
		case c == '_' || c == '-':
		case 'A' <= c && c <= 'Z':
			dst = append(dst, c+'a'-'A')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
