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
	note := func(name string, p pattern) { theirs[Idle{name, p.text}] = true }
	other.kinds[kind].stated.each(note)
	other.kinds[kind].stated.eachPart(func(name string, _ []pattern, p pattern) { note(name, p) })
	return slices.DeleteFunc(slices.Clone(idle), func(i Idle) bool { return theirs[i] })
}

// each calls f for every pattern that leads to a field, to places or to threats. It leaves out
// those that eachPart has.
func (m *kindMapping) each(f func(name string, p pattern)) {
	from := &m.Fields
	for _, plain := range []struct {
		name string
		from []pattern
	}{
		{"code", from.Code}, {"title", from.Title}, {"risk_level", from.RiskLevel}, {"risk_label", from.RiskLabel},
		{"places", m.Places.Each}, {"location", from.Location}, {"summary", from.Summary}, {"starts_at", from.StartsAt},
		{"ends_at", from.EndsAt}, {"published_at", from.PublishedAt}, {"updated_at", from.UpdatedAt},
		{"threats", m.Threats.Each},
	} {
		for _, p := range plain.from {
			f(plain.name, p)
		}
	}
	for _, split := range []struct {
		name string
		from []source
	}{{"names", from.Names}, {"country", from.Country}, {"airports", from.Airports}} {
		for _, p := range split.from {
			f(split.name, p.at)
		}
	}
}

// eachPart calls f for every pattern that starts at a place or at a threat, and with those that
// lead to these.
func (m *kindMapping) eachPart(f func(name string, each []pattern, p pattern)) {
	for _, part := range []struct {
		name       string
		each, from []pattern
	}{
		{"places.name", m.Places.Each, m.Places.Name}, {"places.code", m.Places.Each, m.Places.Code}, {"places.location", m.Places.Each, m.Places.Location},
		{"threats.name", m.Threats.Each, m.Threats.Name}, {"threats.level", m.Threats.Each, m.Threats.Level},
	} {
		for _, p := range part.from {
			f(part.name, part.each, p)
		}
	}
}

// idle returns the patterns that lead nowhere in the record. One that starts at a place or at
// a threat is idle if there is any, and it leads nowhere from all of them.
func (x *extractor) idle() []Idle {
	var all []Idle
	x.mapping.eachPart(func(name string, each []pattern, p pattern) {
		x.found = x.found[:0]
		for _, root := range x.roots {
			for i := range each {
				x.found = x.tree.find(x.found, root, each[i].steps)
			}
		}
		for _, at := range x.found {
			if x.inner = x.tree.find(x.inner[:0], at, p.steps); len(x.inner) > 0 {
				return
			}
		}
		if len(x.found) > 0 {
			all = append(all, Idle{name, p.text})
		}
	})
	x.mapping.each(func(name string, p pattern) {
		for _, root := range x.roots {
			if x.found = x.tree.find(x.found[:0], root, p.steps); len(x.found) > 0 {
				return
			}
		}
		all = append(all, Idle{name, p.text})
	})
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
