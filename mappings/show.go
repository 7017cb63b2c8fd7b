package mappings

import (
	"fmt"
	"slices"
	"strings"

	"riskdex/report"
)

// Shown is how the records of a kind are read now, as far as some of them show it.
type Shown struct {
	Kind    report.Kind
	Records int          // that were looked at
	Stated  []string     // fields about which the operator's files decide
	Shapes  []ShownShape // those with most records come first
}

// ShownShape is how the records of one shape are read, or those of none.
type ShownShape struct {
	Records  int      // that were looked at
	Inferred int      // of so many records the values have told how records are read; 0 if they have not
	Fields   []Learnt // where fields come from
	Unknown  map[string]int
	Lacking  []Lacking
}

// Lacking is a field that no record has, or fewer than should, and what it may be.
type Lacking struct {
	Field      string
	Records    int  // that have it
	Expected   bool // more should have it
	Candidates []Candidate
}

// Show says how the records of a kind are read now. A record that is not JSON is an error.
func (s *Set) Show(kind report.Kind, records [][]byte) (Shown, error) {
	r := s.kinds[kind]
	if r == nil {
		return Shown{}, errNoMapping
	}
	shown := Shown{Kind: kind, Records: len(records)}
	for _, name := range fieldNames() {
		if r.keep.has(fieldNamed(name)) && !strings.Contains(name, ".") {
			shown.Stated = append(shown.Stated, name)
		}
	}
	byShape := map[*shape][][]byte{}
	var order []*shape
	by := s.shapes(kind)
	for i, record := range records {
		of, err := s.shapeOf(by, record)
		if err != nil {
			return Shown{}, fmt.Errorf("record %d: %w", i, err)
		}
		if byShape[of] == nil {
			order = append(order, of)
		}
		byShape[of] = append(byShape[of], record)
	}
	slices.SortStableFunc(order, func(a, b *shape) int { return len(byShape[b]) - len(byShape[a]) })
	for _, of := range order {
		one, err := s.showShape(kind, r, of, byShape[of])
		if err != nil {
			return Shown{}, err
		}
		shown.Shapes = append(shown.Shapes, one)
	}
	return shown, nil
}

// shapeOf returns the shape of a record, or nil if it has none.
func (s *Set) shapeOf(by *shapes, record []byte) (*shape, error) {
	x := s.take()
	defer s.give(x)
	if err := x.tree.parse(record); err != nil {
		return nil, err
	}
	x.open(by)
	return x.near, nil
}

// showShape says how records of a shape are read.
func (s *Set) showShape(kind report.Kind, r *reading, of *shape, records [][]byte) (shown ShownShape, err error) {
	shown.Records = len(records)
	used := r.stated
	if of != nil {
		used = of.used
	}
	if used.Inferred != nil {
		shown.Inferred = used.Inferred.Records
	}
	var with map[string]int
	if shown.Fields, shown.Unknown, with, err = s.survey(kind, records); err != nil {
		return shown, err
	}
	var unread []string
	for _, f := range s.Fields(kind) {
		n := with[f.Field]
		if few := 100*n < f.Expected*len(records); few || n == 0 {
			shown.Lacking = append(shown.Lacking, Lacking{Field: f.Field, Records: n, Expected: few})
			unread = append(unread, f.Field)
		}
	}
	var found []Found
	var candidates []Candidate
	s.infer(kind, r.stated, records, func(in *inference) { found, candidates = in.findings, in.candidates(unread) })
	for i, l := range shown.Lacking {
		for _, c := range candidates {
			if c.Field == l.Field {
				shown.Lacking[i].Candidates = append(shown.Lacking[i].Candidates, c)
			}
		}
	}
	for i, f := range shown.Fields {
		id, why := fieldNamed(f.Field), "it is a usual name"
		switch {
		case r.keep.has(id):
			why = "your file " + string(kind) + ".json says so"
		case used.told.has(id):
			if why = whyOf(found, f); why == "" {
				why = fmt.Sprintf("the values of %d records told it", shown.Inferred)
			}
		case f.ByName:
			why = "of its name"
		}
		shown.Fields[i].Why = why
	}
	return shown, nil
}

// whyOf returns what tells that a field is where it was found: what is said of the same column, of the only
// one that fills the field, or of places.
func whyOf(found []Found, f Learnt) (why string) {
	field, isPart := f.Field, strings.HasPrefix(f.Field, "places.")
	if isPart {
		field = "places"
	}
	n := 0
	for _, of := range found {
		if of.Pointer == f.Pointer && (of.Field == field || f.Field == "risk_label") {
			return of.Why
		}
		if of.Field == field {
			why = of.Why
			n++
		}
	}
	if n > 1 && !isPart {
		return ""
	}
	return why
}
