package mappings

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

// Examination is what became of one record.
type Examination struct {
	Fields []FieldSource // as [Set.Explain] returns them
	Unread []FieldSource // values in no field and not in `text`; only `source` has them
	Idle   []Idle        // patterns that led nowhere
}

// Idle is a pattern of the mapping file that led nowhere in a record.
type Idle struct {
	Field   string
	Pointer jsontext.Pointer // with `*` for every element of an array
}

// Examine returns what became of a record. It fails if AppendDocument would.
func (s *Set) Examine(kind report.Kind, record []byte) (Examination, error) {
	t := &trace{examine: true}
	c := report.Change{Key: report.Key{Kind: kind}, Op: report.Index, Body: record}
	if _, _, err := s.appendDocument(nil, c, t); err != nil {
		return Examination{}, err
	}
	e := Examination{Unread: t.unread, Idle: t.idle}
	for _, a := range t.attempts {
		e.Fields = append(e.Fields, a.FieldSource)
	}
	e.Unread = slices.DeleteFunc(e.Unread, func(u FieldSource) bool {
		return slices.Contains(t.longitudes, u.Pointer) || slices.ContainsFunc(e.Fields, func(f FieldSource) bool {
			if isWholeRecord(f.Field) {
				return false
			}
			if f.Pointer == "" { // the record itself was read as a point
				name := string(appendFolded(nil, []byte(u.Pointer.LastToken())))
				return u.Pointer.Parent() == "" && slices.Contains([]string{"lat", "latitude", "lon", "lng", "long", "longitude"}, name)
			}
			return f.Reason == "" && (f.Pointer == u.Pointer || f.Pointer.Contains(u.Pointer))
		})
	})
	return e, nil
}

// isWholeRecord reports whether a field of an explanation is made from all of the record.
func isWholeRecord(field string) bool {
	return field == "text" || field == "source" || strings.HasPrefix(field, textInField)
}

// OnlyHere returns the idle patterns that other does not have for the same field. If other
// has the built-in mappings, these are the ones that an operator has written.
func (s *Set) OnlyHere(kind report.Kind, idle []Idle, other *Set) []Idle {
	theirs := map[Idle]bool{}
	note := func(l listOf) {
		for _, p := range *l.from {
			theirs[Idle{l.name, p.text}] = true
		}
	}
	m := other.kinds[kind].stated
	for _, l := range m.lists() {
		note(l)
	}
	for _, p := range m.parts() {
		note(p.listOf)
	}
	return slices.DeleteFunc(slices.Clone(idle), func(i Idle) bool { return theirs[i] })
}

// idle returns the patterns that lead nowhere in the record. One that starts at a place or at
// a threat is idle if there is any, and it leads nowhere from all of them.
func (x *extractor) idle() (all []Idle) {
	note := func(l listOf, from []uint32) {
		for _, p := range *l.from {
			if !slices.ContainsFunc(from, func(at uint32) bool { return len(x.tree.find(nil, at, p.steps)) > 0 }) {
				all = append(all, Idle{l.name, p.text})
			}
		}
	}
	for _, part := range x.mapping.parts() {
		var from []uint32
		for _, root := range x.roots {
			for i := range part.each {
				from = x.tree.find(from, root, part.each[i].steps)
			}
		}
		if len(from) > 0 {
			note(part.listOf, from)
		}
	}
	for _, l := range x.mapping.lists() {
		note(l, x.roots)
	}
	return all
}

// notText records a value that is not part of `text`, unless it is empty.
func (t *trace) notText(x *extractor, at uint32) {
	if t == nil || !t.examine || x.tree.empty(at) || len(t.unread) >= maxValues {
		return
	}
	u := FieldSource{Pointer: x.tree.pointer(at), Value: x.tree.value(at)}
	t.unread = append(t.unread, u)
}

// generalized returns p with `*` in place of every index.
func generalized(p jsontext.Pointer) jsontext.Pointer {
	var general jsontext.Pointer
	for token := range p.Tokens() {
		if isIndex(token) {
			token = "*"
		}
		general = general.AppendToken(token)
	}
	return general
}

func isIndex(token string) bool { return token != "" && strings.Trim(token, "0123456789") == "" }
