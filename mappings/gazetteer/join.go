package gazetteer

import "slices"

// Report is what a report on a city says about it.
type Report struct {
	Code      string   // three letters; empty if it states none
	Names     []string // folded, the first one first
	Countries []string // ISO 3166 alpha-2; empty if it states none
	Located   bool
	Lat, Lon  float64
}

const (
	near  = 75      // kilometres; a report that is farther from the middle of a city is not about it
	large = 500_000 // people of a city that its name alone identifies, if no other has that name
)

// City returns the city that a report is about, or nil if that is not certain. The code
// decides, unless anything else that the report says contradicts it; otherwise a name
// decides, together with the country or the location. A name alone decides if only one city
// of the table has it, and that city is large.
func (g *Gazetteer) City(r Report) *City {
	if row, ok := g.codes[r.Code]; ok && r.Code != "" && g.fits(int(row), r) {
		named := slices.ContainsFunc(r.Names, g.cities[row].called)
		if named || len(r.Names) == 0 && (r.Located || len(r.Countries) > 0) {
			return &g.cities[row]
		}
		// A title may say more than a name. But if it is the name of another city there,
		// the code is from a list that the table does not know.
		if r.Located || len(r.Countries) > 0 {
			if other := g.byName(r); other == nil {
				return &g.cities[row]
			}
		}
	}
	return g.byName(r)
}

// fits reports whether a city is compatible with the country and the location that a report
// states.
func (g *Gazetteer) fits(row int, r Report) bool {
	c := &g.cities[row]
	return (len(r.Countries) == 0 || slices.Contains(r.Countries, c.Country)) && (!r.Located || c.kilometres(r.Lat, r.Lon) <= near)
}

func (g *Gazetteer) byName(r Report) *City {
	for _, name := range r.Names {
		var found, main []int // with that name; with that main name
		namesakes := 0
		for row := range g.cityNames.rows(hashOf(name)) {
			c := &g.cities[row]
			if !c.called(name) {
				continue
			}
			namesakes++
			if g.fits(row, r) {
				found = append(found, row)
				if Fold(c.Name) == name {
					main = append(main, row)
				}
			}
		}
		if len(found) > 1 && len(main) == 1 {
			found = main
		}
		switch {
		case len(found) == 0:
			continue
		case len(found) > 1:
			return nil
		}
		c := &g.cities[found[0]]
		if len(r.Countries) == 0 && !r.Located && (namesakes > 1 || c.Population < large) {
			return nil
		}
		return c
	}
	return nil
}
