package mappings

import (
	"bytes"
	"cmp"
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/mappings/plaintext"
)

// pattern says where in a record a value is: a JSON pointer (RFC 6901) in which `*` stands
// for every element of an array, `{*}` for every member of an object, `{name}` for the name of a member,
// [label=Country] for the elements of an array whose member label is Country, and {/levels} for what has
// the value for its name in an object, or for its id in a list, elsewhere in the record. What is no array
// counts as one of itself. Member names match regardless of case, `_` and `-`, so
// /risk_level finds riskLevel too. The empty pattern is the record itself.
type pattern struct {
	text  jsontext.Pointer
	steps []step
	order dateOrder // of day and month in the dates that it leads to

	lon   *pattern // of a position whose latitude it leads to; nil if the value is all of the position
	pairs pairOrder
	split string // signs that separate several values in one text, if there can be several
}

// splitBy returns p for texts in which signs separate values.
func (p pattern) splitBy(signs string) pattern {
	p.split = signs
	return p
}

// pairOrder is the order of the numbers of a position.
type pairOrder uint8

const (
	byValue pairOrder = iota // the value tells
	latFirst
	lonFirst
)

type step struct {
	name  string // folded
	every bool   // `*`
	all   bool   // `{*}`: every member of an object whose names are data
	index int    // of an element if the name is a number; else -1
	label string // with name: the elements whose member name has this text
	key   bool   // `{name}`: the name of the member itself
	table []step // `{/levels}`: the member of an object elsewhere that has the value for a name
}

var errPattern = errors.New(`a pointer is "" or starts with "/"; "~" is written ~0 and "/" in a name ~1`)

const (
	members    = "{*}"    // stands for every member of an object
	memberName = "{name}" // stands for the name of a member
)

// isStep reports whether a name of a member would mean something else in a pattern.
func isStep(name string) bool {
	return name == "*" || strings.HasPrefix(name, "{") && strings.HasSuffix(name, "}") || strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]")
}

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
		if name == members {
			p.steps = append(p.steps, step{all: true, index: -1})
			continue
		}
		if name == memberName {
			p.steps = append(p.steps, step{key: true, index: -1})
			continue
		}
		if table, ok := strings.CutPrefix(name, "{/"); ok && strings.HasSuffix(name, "}") {
			if of, err := parsePattern(jsontext.Pointer("/" + strings.TrimSuffix(table, "}"))); err == nil {
				p.steps = append(p.steps, step{table: of.steps, index: -1})
				continue
			}
		}
		if inside, ok := strings.CutPrefix(name, "["); ok && strings.HasSuffix(name, "]") {
			if member, label, ok := strings.Cut(strings.TrimSuffix(inside, "]"), "="); ok && label != "" {
				p.steps = append(p.steps, step{name: string(appendFolded(nil, []byte(member))), label: label, index: -1})
				continue
			}
		}
		index := -1
		if n, err := strconv.ParseUint(name, 10, 31); err == nil && (name == "0" || name[0] != '0') {
			index = int(n)
		}
		p.steps = append(p.steps, step{name: string(appendFolded(nil, []byte(name))), index: index})
	}
	return p, nil
}

// patternFile is a pattern that says more than where a value is.
type patternFile struct {
	At    jsontext.Pointer `json:"at,omitzero"`
	Order string           `json:"order,omitzero"` // "day,month", "month,day", "lat,lon" or "lon,lat"
	Lat   jsontext.Pointer `json:"lat,omitzero"`
	Lon   jsontext.Pointer `json:"lon,omitzero"`
	Split string           `json:"split,omitzero"`
}

// orders are what Order says.
var orders = map[string]pattern{
	"": {}, "day,month": {order: dayFirst}, "month,day": {order: monthFirst}, "lat,lon": {pairs: latFirst}, "lon,lat": {pairs: lonFirst},
}

// UnmarshalJSONFrom reads "/published", {"at": "/published", "order": "day,month"}, {"at": "/airports", "split": ","},
// or the two places of a position, {"lat": "/y", "lon": "/x"}.
func (p *pattern) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '{' {
		var f patternFile
		err := json.UnmarshalDecode(d, &f)
		if err != nil {
			return err
		}
		if *p, err = parsePattern(cmp.Or(f.At, f.Lat)); err != nil {
			return err
		}
		of, ok := orders[f.Order]
		if !ok {
			return errOrder
		}
		p.order, p.pairs, p.split = of.order, of.pairs, f.Split
		if f.Lon != "" {
			p.lon = new(pattern)
			*p.lon, err = parsePattern(f.Lon)
		}
		return err
	}
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

var errOrder = errors.New(`"order" is "day,month", "month,day", "lat,lon" or "lon,lat"`)

// MarshalJSONTo writes the pattern as it was read.
func (p pattern) MarshalJSONTo(e *jsontext.Encoder) error {
	f := patternFile{At: p.text, Split: p.split}
	if p.lon != nil {
		f = patternFile{Lat: p.text, Lon: p.lon.text}
	}
	for name, of := range orders {
		if of.order == p.order && of.pairs == p.pairs {
			f.Order = name
		}
	}
	if f == (patternFile{At: p.text}) {
		return e.WriteToken(jsontext.String(string(p.text)))
	}
	return json.MarshalEncode(e, f)
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
	if steps[0].key {
		if at := t.nameNode(from); at != none {
			dst = t.find(dst, at, steps[1:])
		}
		return dst
	}
	if steps[0].table != nil {
		return t.lookUp(dst, from, steps)
	}
	if t.inner != nil && parent.kind == '{' && !steps[0].all && t.member(from, steps[0].name) == none {
		if at := t.inner(from); at != from {
			return t.find(dst, at, steps)
		}
	}
	if steps[0].label != "" {
		first, next := parent.first, true
		if parent.kind != '[' { // a list of one that is written without brackets
			first, next = from, false
		}
		for at := first; at != none || !next; at = t.nodes[at].next {
			if of := t.member(at, steps[0].name); of != none && t.nodes[of].kind == '"' && t.isLabelled(of, steps[0].label) {
				dst = t.find(dst, at, steps[1:])
			}
			if !next {
				break
			}
		}
		return dst
	}
	if steps[0].every && parent.kind != '[' && t.inner != nil { // the same
		return t.find(dst, from, steps[1:])
	}
	if steps[0].every != (parent.kind == '[') || parent.kind != '[' && parent.kind != '{' {
		return dst
	}
	for at := parent.first; at != none; at = t.nodes[at].next {
		if steps[0].every || steps[0].all || string(t.named(at)) == steps[0].name {
			dst = t.find(dst, at, steps[1:])
		}
	}
	return dst
}

// isLabelled reports whether a text reads like a label, which has no markup.
func (t *tree) isLabelled(at uint32, label string) bool {
	text := bytes.TrimSpace(t.text(at))
	if bytes.ContainsAny(text, "<&") {
		text = bytes.TrimSpace(plaintext.AppendLine(nil, text))
	}
	return string(text) == label
}

// lookUp appends what is found from the members of tables, or the elements of lists, that a value names.
func (t *tree) lookUp(dst []uint32, from uint32, steps []step) []uint32 {
	value := t.scalarText(from)
	if value == "" {
		return dst
	}
	folded := string(appendFolded(nil, []byte(value)))
	for _, table := range t.find(nil, 0, steps[0].table) {
		if t.nodes[table].kind == '{' {
			if at := t.member(table, folded); at != none {
				dst = t.find(dst, at, steps[1:])
			}
			continue
		}
		for at := t.nodes[table].first; at != none; at = t.nodes[at].next {
			if of := t.member(at, "id"); of != none && t.scalarText(of) == value {
				dst = t.find(dst, at, steps[1:])
			}
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
