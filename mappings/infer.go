package mappings

import (
	"fmt"
	"slices"

	"riskdex/internal/vocabulary"
	"riskdex/mappings/gazetteer"
	"riskdex/report"
)

// inference finds which columns fill which fields. What it concludes follows from the values of
// columns; their names decide where values say little.
type inference struct {
	*columns
	kind     report.Kind
	scalars  []*column         // columns with scalars, in the order of byPointer
	cities   []*gazetteer.City // that each record is about, as far as it is known
	nations  []map[string]bool // countries that each record is about, as far as its words tell
	places   [][]point         // where each record is, as far as its cities tell
	taken    map[*column]string
	findings []Found
	bits     func(string) vocabulary.Concepts
	mapping  *kindMapping
	dates    map[*column]dateColumn
}

const aboutInferred = "Where the fields of a document come from, as the values of records tell."

// infer finds the mapping that the values of records tell, and what it is told by.
func (x *extractor) infer(kind report.Kind, base *kindMapping, records [][]byte) *inference {
	m := &kindMapping{About: aboutInferred}
	in := &inference{kind: kind, taken: map[*column]string{}, bits: x.reader.vocabulary.Concepts, mapping: m, dates: map[*column]dateColumn{}}
	in.columns = newColumns(x, base, records)
	in.top.eachColumn(func(c *column) {
		if len(c.cells) > 0 && !c.isNumbered() && !c.isOfTable() {
			in.look(c)
			in.scalars = append(in.scalars, c)
		}
	})
	m.Inferred = &inferredFrom{Records: in.records}
	slices.SortStableFunc(in.scalars, byPointer)
	in.anchor()
	in.country()
	located := in.located()
	in.position(located)
	in.code()
	in.title()
	in.names()
	in.airports()
	in.times()
	in.level()
	in.threats()
	in.placesOf(located)
	in.summary()
	return in
}

func (in *inference) note(field string, c *column, why string, args ...any) {
	in.taken[c] = field
	in.findings = append(in.findings, Found{field, c.pointer(), c.records, fmt.Sprintf(why, args...)})
}

func (in *inference) has(c *column, concepts string) bool {
	return c.of.named&in.bits(concepts) != 0
}

// isForeign reports whether a column is within an object about somebody or something else.
func (in *inference) isForeign(c *column) bool {
	return c.of.means&in.bits("foreign") != 0
}

func (in *inference) summary() {
	best := bestOf(in.scalars, func(c *column) (score float64, ok bool) {
		ok = in.has(c, "summary") && in.taken[c] == "" && c.isPlain() && c.of.length >= 40 && c.of.spaced >= 0.9 && in.share(c) >= 0.5 && !in.isForeign(c)
		return 1 + in.share(c) - 0.1*float64(c.of.unknown) - 0.05*float64(c.depth()), ok
	})
	if best == nil {
		return
	}
	in.mapping.Fields.Summary = []pattern{best.pattern()}
	in.note("summary", best, "by its name")
}
