package mappings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/internal/vocabulary"
	"riskdex/report"
)

// Lesson is what the records of a feed reveal about where the fields are.
type Lesson struct {
	Kind    report.Kind
	Records int
	Fields  []Learnt
	Levels  Levels
}

// Learnt is one place in the records that a field is taken from.
type Learnt struct {
	Field    string
	Pointer  jsontext.Pointer // with `*` for every element of an array
	Records  int              // with a value there that fits
	Distinct int              // different values that fit, counted up to 10,000
	Examples []string         // the first few of these, as JSON
	ByWords  bool             // found by the words of its name; no pattern of the Set leads there
	InFile   bool             // the proposed file has a pattern for it; otherwise the words of its name have to lead there
	Misfits  int              // values there that do not fit
	Misfit   string           // one of these
	Reason   string           // why that one does not fit
}

// Levels are the risk levels of the records, as they state them.
type Levels struct {
	Low, High int            // the lowest and the highest of the whole numbers
	Numbers   int            // records that state a whole number
	Unknown   map[string]int // labels whose level is not known, and how many records have them
	Scale     string         // the risk_scale to propose; empty unless the numbers leave no doubt
	Ladder    []string       // the labels to propose as risk_scale, the lowest first; nil unless they leave no doubt
	Assumed   bool           // some labels are also those of other scales than the one they are read on

	labels map[string]bool // folded
}

const maxExamples = 3

// Learn reads records with the mappings of s and sums up where the fields come from. A
// record that is not JSON is an error.
func (s *Set) Learn(kind report.Kind, records [][]byte) (Lesson, error) {
	l := Lesson{Kind: kind, Records: len(records), Levels: Levels{Unknown: map[string]int{}, labels: map[string]bool{}}}
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
	numeric := true
	for i, record := range records {
		e, err := s.Examine(kind, record)
		if err != nil {
			return Lesson{}, fmt.Errorf("record %d: %w", i, err)
		}
		for _, f := range e.Fields {
			if isWholeRecord(f.Field) {
				continue
			}
			at := key{f.Field, learntAt(f)}
			p := places[at]
			if p == nil {
				p = &seen{Learnt: &Learnt{Field: f.Field, Pointer: at.pointer, ByWords: f.Guessed}, values: map[string]bool{}, last: -1}
				places[at] = p
			}
			if f.Field == "risk_level" {
				numeric = l.Levels.add(f, record) && numeric
			}
			if f.Reason != "" {
				p.Misfits++
				p.Misfit, p.Reason = string(f.Value), f.Reason
				continue
			}
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
			p.InFile = inFile(at.pointer, f, record)
		}
	}
	for _, p := range places {
		l.Fields = append(l.Fields, *p.Learnt)
	}
	slices.SortFunc(l.Fields, func(a, b Learnt) int {
		return cmp.Or(fieldOrder(a.Field)-fieldOrder(b.Field), b.Records-a.Records, cmp.Compare(a.Pointer, b.Pointer))
	})
	l.Levels.conclude(numeric)
	return l, nil
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

// inFile reports whether a mapping file can have a pattern for the value: not for a value
// in a list unless the field takes several, and not for a location in two values.
func inFile(at jsontext.Pointer, f FieldSource, record []byte) bool {
	switch f.Field {
	case "names", "country", "airports":
		return true
	case "places.name", "places.code", "places.location":
		return strings.Contains(string(at), "/*")
	case "threats":
		return false // the patterns of the Set stay
	case "location":
		value := lookup(record, f.Pointer)
		if value.Kind() == '0' || value.Kind() == '"' && !strings.Contains(string(value), ",") {
			return false // the latitude alone
		}
	}
	return !strings.Contains(string(at), "/*")
}

func lookup(record []byte, at jsontext.Pointer) jsontext.Value {
	t := new(tree)
	if t.parse(record) != nil {
		return nil
	}
	p, err := parsePattern(at)
	if err != nil {
		return nil
	}
	if found := t.find(nil, 0, p.steps); len(found) > 0 {
		return t.value(found[0])
	}
	return nil
}

func fieldOrder(name string) int {
	return slices.Index([]string{
		"code", "title", "names", "country", "risk_level", "risk_label", "airports", "places", "places.name", "places.code", "places.location",
		"location", "summary", "starts_at", "ends_at", "published_at", "updated_at", "threats",
	}, name)
}

// add counts a level and reports whether it is a whole number.
func (l *Levels) add(f FieldSource, record []byte) bool {
	raw := string(lookup(record, f.Pointer))
	text := strings.Trim(raw, `"`)
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		if f.Reason != "" {
			l.Unknown[text]++
		}
		l.labels[strings.TrimSuffix(vocabulary.Fold(strings.TrimSpace(text)), " risk")] = true
		return false
	}
	if l.Numbers == 0 {
		l.Low, l.High = n, n
	}
	l.Low, l.High, l.Numbers = min(l.Low, n), max(l.High, n), l.Numbers+1
	return true
}

// climb sets Ladder if the labels are one for each level of a usual scale. That of the built-in
// mapping files needs no proposal.
func (l *Levels) climb() {
	var labels []string
	english := map[string]bool{}
	for label := range l.labels {
		labels = append(labels, englishLabel(label))
		english[englishLabel(label)] = true
	}
	for i := range ladders {
		of := &ladders[i]
		if len(labels) != len(of) || !of.holds(labels) {
			continue
		}
		if i > 0 {
			l.Ladder = slices.SortedFunc(maps.Keys(l.labels), func(a, b string) int { return of.level(englishLabel(a)) - of.level(englishLabel(b)) })
			clear(l.Unknown)
		}
		return
	}
	if !english["moderate"] || !english["medium"] {
		l.Assumed = english["low"] || english["moderate"] || english["medium"] || english["high"]
	}
}

// conclude sets Scale if the levels cannot be meant to be from 1 to 5.
func (l *Levels) conclude(numeric bool) {
	l.climb()
	if numeric && l.Numbers > 0 && l.Low >= 0 && (l.Low == 0 || l.High > 5) && l.High <= 100 {
		high := l.High
		for _, usual := range []int{4, 5, 10, 100} {
			if l.High <= usual {
				high = usual
				break
			}
		}
		l.Scale = fmt.Sprintf("%d-%d", min(l.Low, 1), high)
	}
}

// File returns the mapping file that the lesson proposes. Fields about which nothing was
// learnt keep the patterns of s.
func (s *Set) File(l Lesson) ([]byte, error) {
	file := *s.kinds[l.Kind]
	file.About = fmt.Sprintf("Where the fields of a document come from, as learnt from %d records. Each field has pointers, tried in order.", l.Records)
	patterns := map[string][]pattern{}
	var each []pattern
	for _, f := range l.Fields {
		if !f.InFile || f.Records == 0 {
			continue
		}
		if part, ok := strings.CutPrefix(f.Field, "places."); ok {
			list, rest, found := cutLastStar(f.Pointer)
			if !found {
				continue
			}
			each = appendPattern(each, list)
			patterns["places."+part] = appendPattern(patterns["places."+part], rest)
			continue
		}
		patterns[f.Field] = appendPattern(patterns[f.Field], f.Pointer)
	}
	to := &file.Fields
	for name, dst := range map[string]*[]pattern{
		"code": &to.Code, "title": &to.Title, "risk_level": &to.RiskLevel, "risk_label": &to.RiskLabel, "location": &to.Location,
		"summary": &to.Summary, "starts_at": &to.StartsAt, "ends_at": &to.EndsAt, "published_at": &to.PublishedAt, "updated_at": &to.UpdatedAt,
		"places.name": &file.Places.Name, "places.code": &file.Places.Code, "places.location": &file.Places.Location,
	} {
		if patterns[name] != nil {
			*dst = patterns[name]
		}
	}
	for name, dst := range map[string]*[]source{"names": &to.Names, "country": &to.Country, "airports": &to.Airports} {
		if patterns[name] == nil {
			continue
		}
		built := *dst
		*dst = nil
		for _, p := range patterns[name] {
			from := source{at: p}
			if i := slices.IndexFunc(built, func(b source) bool { return foldedPattern(b.at) == foldedPattern(p) }); i >= 0 {
				from.split = built[i].split
			} else if name != "names" && !strings.HasSuffix(string(p.text), "*") {
				from.split = ",;| "
			}
			*dst = append(*dst, from)
		}
	}
	if each != nil {
		file.Places.Each = each
	}
	if l.Levels.Scale != "" {
		if err := json.Unmarshal(fmt.Appendf(nil, "%q", l.Levels.Scale), &file.RiskScale); err != nil {
			return nil, fmt.Errorf("the scale of the levels: %w", err)
		}
	}
	if l.Levels.Ladder != nil {
		file.RiskScale = riskScale{labels: l.Levels.Ladder}
	}
	text, err := json.Marshal(file, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("writing the mapping file: %w", err)
	}
	return append(text, '\n'), nil
}

func foldedPattern(p pattern) string { return string(appendFolded(nil, []byte(p.text))) }

func appendPattern(list []pattern, text jsontext.Pointer) []pattern {
	p, err := parsePattern(text)
	if err != nil || slices.ContainsFunc(list, func(o pattern) bool { return o.text == text }) {
		return list // not an error: a pointer of a record is a pattern
	}
	return append(list, p)
}

// cutLastStar splits a pattern after its last `*`.
func cutLastStar(p jsontext.Pointer) (list, rest jsontext.Pointer, found bool) {
	i := strings.LastIndex(string(p), "/*")
	if i < 0 {
		return "", "", false
	}
	return p[:i+2], p[i+2:], true
}

// Labels returns the labels whose level is not known, the most frequent first.
func (l Levels) Labels() []string {
	return slices.SortedFunc(maps.Keys(l.Unknown), func(a, b string) int {
		return cmp.Or(l.Unknown[b]-l.Unknown[a], strings.Compare(a, b))
	})
}
