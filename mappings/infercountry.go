package mappings

import (
	"cmp"
	"slices"

	"riskdex/report"
)

// country finds the columns whose values are countries, and the same that the rest of each record is
// about.
func (in *inference) country() {
	type candidate struct {
		c                       *column
		stated                  [][]string // by each record
		agrees, chance, by, all float64
		named                   bool
	}
	var found []candidate
	for _, c := range in.scalars {
		if c.of.numbers > 0.1 || c.of.length > 80 || c.of.length < 1.5 {
			continue
		}
		told, agree, both, luck := 0, 0, 0, 0
		stated := make([][]string, in.records)
		for _, v := range c.cells {
			if codes := in.countriesOf(v.text); codes != nil {
				told++
				stated[v.record] = append(stated[v.record], codes...)
			}
		}
		for record, codes := range stated { // a report may say little of some of its countries
			if codes == nil || len(in.nations[record]) == 0 {
				continue
			}
			both++
			if among(codes, in.nations[record]) {
				agree++
			}
			for k := range 5 { // what the neighbours would agree with
				if among(codes, in.nations[(record+7*(k+1))%in.records]) {
					luck++
				}
			}
		}
		share := shareOf(told, c.of.n)
		if share < 0.7 && !c.isPlain() { // countries among the names of other places
			with := 0
			for _, codes := range stated {
				if codes != nil {
					with++
				}
			}
			if 10*with > 8*c.records {
				share = 0.7
			}
		}
		if share < 0.7 {
			continue
		}
		named := in.has(c, "country iso")
		f := candidate{c: c, stated: stated, by: share, all: in.share(c), named: named}
		if both > 0 {
			f.agrees, f.chance = shareOf(agree, both), float64(luck)/float64(5*both)
		}
		switch {
		case both >= 5 && f.agrees-f.chance < 0.3:
			continue
		case both >= 5 && in.records > 10 && f.agrees < 0.5:
			continue
		case both < 5 && (!named || in.isForeign(c)):
			continue
		}
		found = append(found, f)
	}
	rank := func(f candidate) float64 {
		r := f.agrees*f.by + 0.5*f.all
		if f.named {
			r += 0.3
		}
		if in.isForeign(f.c) {
			r -= 0.4
		}
		if f.c.of.length <= 3 {
			r += 0.1 // a code can be read in one way only
		}
		return r - 0.03*float64(f.c.depth()) + 0.2*min(1, float64(len(f.c.cells))/float64(in.records)-f.all)
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(rank(b), rank(a)) })
	if len(found) == 0 {
		return
	}
	covered := map[int]bool{}
	var from []pattern
	for i, f := range found {
		fresh := 0
		for _, v := range f.c.cells {
			if !covered[v.record] && in.countriesOf(v.text) != nil {
				fresh++
				covered[v.record] = true
			}
		}
		if i > 0 && (fresh*50 < in.records || rank(f) < rank(found[0])-0.5 || in.contradicts(f.c, found[0].stated)) {
			in.taken[f.c] = "country"
			continue
		}
		from = append(from, f.c.pattern().splitBy(listSigns))
		in.note("country", f.c, "%.0f %% of its values are countries, %.0f %% those that the report is about", 100*f.by, 100*f.agrees)
	}
	in.mapping.Fields.Country = from
	if in.kind == report.Cities { // names alone may have meant another city
		in.elect(found[0].stated)
		return
	}
	for record, codes := range found[0].stated { // a text may not name them
		for _, code := range codes {
			in.nations[record][code] = true
		}
	}
}

// contradicts reports whether a column mostly names other countries than the records state, as that of their
// author does.
func (in *inference) contradicts(c *column, stated [][]string) bool {
	both, same := 0, 0
	for _, v := range c.cells {
		if codes := in.countriesOf(v.text); codes != nil && stated[v.record] != nil {
			both++
			if slices.ContainsFunc(codes, func(code string) bool { return slices.Contains(stated[v.record], code) }) {
				same++
			}
		}
	}
	return both >= 3 && 2*same < both
}
