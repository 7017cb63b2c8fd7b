package gazetteer

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Region is a state, a province or the like.
type Region struct {
	Name    string // the first of its names, in the form of Plain
	Country string // ISO 3166 alpha-2

	others string // other names, with | between them
}

// Names yields the names of a region, in the form of Plain.
func (r *Region) Names() iter.Seq[string] { return namesOf(r.Name, r.others) }

// regions is the table of regions.
type regions struct {
	rows  []Region
	names names
	codes map[string]int32
}

// parseRegions reads a table of regions. Their codes are those of ISO 3166-2: DE-BY.
func parseRegions(table string) (regions, error) {
	all := regions{codes: map[string]int32{}}
	var f folder
	for r, err := range rows(table, "code", "name", "other_names") {
		if err != nil {
			return all, err
		}
		code, at := r.cell("code"), len(all.rows)
		country, _, ok := strings.Cut(code, "-")
		switch {
		case r.cell("name") == "" || !ok || len(country) != 2:
			return all, fmt.Errorf("line %d: a region needs a name and a code such as DE-BY", r.line)
		case at > mostRow:
			return all, fmt.Errorf("there are more than %d regions", mostRow)
		}
		region := Region{Name: r.cell("name"), Country: country, others: r.cell("other_names")}
		all.codes[code] = int32(at)
		all.rows = append(all.rows, region)
		for name := range region.Names() {
			all.names.add(hashOf(f.fold(name)), at)
		}
	}
	all.names.sorted()
	return all, nil
}

// Region returns the region that a city is in, or nil if the table does not know it.
func (g *Gazetteer) Region(c *City) *Region {
	if at, ok := g.regions.codes[c.region]; ok {
		return &g.regions.rows[at]
	}
	return nil
}

// RegionsCalled yields the regions of some countries that have a name, which is folded. Kurdistan is
// several.
func (g *Gazetteer) RegionsCalled(folded string, countries []string) iter.Seq[*Region] {
	return func(yield func(*Region) bool) {
		for row := range g.regions.names.rows(hashOf(folded)) {
			r := &g.regions.rows[row]
			if slices.Contains(countries, r.Country) && called(r.Names(), folded) && !yield(r) {
				return
			}
		}
	}
}
