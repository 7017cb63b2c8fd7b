package mappings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/vocabulary"
	"riskdex/report"
)

// Lesson is what the records of a feed reveal about where the fields are.
type Lesson struct {
	Kind    report.Kind
	Records int
	Fields  []Learnt
	Unknown map[string]int // values of the risk level whose level is not known, and how many records have them
	File    []byte         // the mapping file that it proposes: what is not in it is read as before
}

// Learnt is one place in the records that a field is taken from.
type Learnt struct {
	Field    string
	Pointer  jsontext.Pointer // with `*` for every element of an array
	Records  int              // with a value there that fits
	Distinct int              // different values that fit, counted up to 10,000
	Examples []string         // the first few of these, as JSON
	ByName   bool             // found by the words of its name; the file has no pattern for it
	Why      string           // what tells that the field is there; empty if its name alone does
	Misfits  int              // values there that do not fit
	Misfit   string           // one of these
	Reason   string           // why that one does not fit
}

const maxExamples = 3

// Learn finds how records are best read, by their values, and sums up where the fields then come
// from. A record that is not JSON is an error.
func (s *Set) Learn(kind report.Kind, records [][]byte) (Lesson, error) {
	taught, found, err := s.Infer(kind, records)
	if err != nil {
		return Lesson{}, err
	}
	l := Lesson{Kind: kind, Records: len(records), File: append([]byte(taught.kinds[kind].told), '\n')}
	if l.Fields, l.Unknown, _, err = taught.survey(kind, records); err != nil {
		return Lesson{}, err
	}
	for i, p := range l.Fields {
		for _, f := range found {
			if f.Field == p.Field && f.Pointer == p.Pointer {
				l.Fields[i].Why = f.Why
			}
		}
	}
	return l, nil
}

// survey sums up where the fields of records come from, which values of the level are not known, and how
// many records have each field.
func (s *Set) survey(kind report.Kind, records [][]byte) (fields []Learnt, unknown, with map[string]int, err error) {
	type key struct {
		field   string
		pointer jsontext.Pointer
	}
	type seen struct {
		*Learnt
		values map[string]bool
		last   int // record
	}
	places := map[key]*seen{}
	unknown, with = map[string]int{}, map[string]int{}
	for i, record := range records {
		e, err := s.Examine(kind, record)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("record %d: %w", i, err)
		}
		has := map[string]bool{}
		for _, f := range e.Fields {
			if isWholeRecord(f.Field) {
				continue
			}
			at := key{f.Field, learntAt(f)}
			p := places[at]
			if p == nil {
				p = &seen{Learnt: &Learnt{Field: f.Field, Pointer: at.pointer, ByName: f.Guessed}, values: map[string]bool{}, last: -1}
				places[at] = p
			}
			if f.Reason != "" {
				p.Misfits++
				p.Misfit, p.Reason = string(f.Value), f.Reason
				if f.Field == "risk_level" {
					unknown[strings.Trim(string(f.Value), `"`)]++
				}
				continue
			}
			has[f.Field] = true
			if p.last != i {
				p.last = i
				p.Records++
			}
			if len(p.values) < 10_000 && !p.values[string(f.Value)] {
				p.values[string(f.Value)] = true
				if p.Distinct++; len(p.Examples) < maxExamples {
					p.Examples = append(p.Examples, string(f.Value))
				}
			}
		}
		for field := range has {
			with[field]++
		}
		if has["places.name"] || has["places.code"] || has["places.location"] {
			with["places"]++
		}
	}
	for _, p := range places {
		fields = append(fields, *p.Learnt)
	}
	slices.SortFunc(fields, func(a, b Learnt) int {
		return cmp.Or(fieldOrder(a.Field)-fieldOrder(b.Field), b.Records-a.Records, cmp.Compare(a.Pointer, b.Pointer))
	})
	return fields, unknown, with, nil
}

// learntAt returns the pattern that finds the value in other records too. It has `*` in
// place of every index, and ends before the language of a text that is there in several.
func learntAt(f FieldSource) jsontext.Pointer {
	p := f.Pointer
	for p != "" && vocabulary.IsLanguage(p.LastToken()) && len(p.LastToken()) < 6 {
		p = p.Parent()
	}
	return generalized(p)
}

func fieldOrder(name string) int { return slices.Index(fieldNames(), name) }

// fieldNames returns the fields of which a mapping file says where they are, in the order in which people
// are shown them.
func fieldNames() []string {
	return []string{
		"code", "title", "names", "country", "risk_level", "risk_label", "airports", "places", "places.name", "places.code", "places.location",
		"location", "summary", "starts_at", "ends_at", "published_at", "updated_at", "threats",
	}
}

// Labels returns the values of the risk level whose level is not known, the most frequent first.
func (l Lesson) Labels() []string {
	return slices.SortedFunc(maps.Keys(l.Unknown), func(a, b string) int {
		return cmp.Or(l.Unknown[b]-l.Unknown[a], strings.Compare(a, b))
	})
}
