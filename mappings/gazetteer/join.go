package gazetteer

import "slices"

// Report is what the report about a city says of it.
type Report struct {
	Code      string   // of three letters; empty where it has none
	Names     []string // folded, the first one first
	Countries []string // ISO 3166 alpha-2; empty where it has none
	Located   bool
	Lat, Lon  float64
}

const (
	near  = 75      // kilometres from the middle of a city at which a report is about it still
	large = 500_000 // people of a city that is meant by its name alone, where no other has it
)

// City returns the city that a report is about, or nil where the table has none that is
// sure. By its code, unless anything else that the report says is against it; otherwise
// by a name together with the country or the location. A name alone decides where one
// city of the table has it, which is large.
func (g *Gazetteer) City(r Report) *City {
	if row, ok := g.codes[r.Code]; ok && r.Code != "" && g.fits(int(row), r) {
		named := slices.ContainsFunc(r.Names, g.cities[row].called)
		if named || len(r.Names) == 0 && (r.Located || len(r.Countries) > 0) {
			return &g.cities[row]
		}
		// A title may say more than a name. But where it is the name of another city
		// there, the code is of a list that the table does not know.
		if r.Located || len(r.Countries) > 0 {
			if other := g.byName(r); other == nil {
				return &g.cities[row]
			}
		}
	}
	return g.byName(r)
}

// fits tells whether nothing that a report says of country and location is against a city.
func (g *Gazetteer) fits(row int, r Report) bool {
	c := &g.cities[row]
	return (len(r.Countries) == 0 || slices.Contains(r.Countries, c.Country)) && (!r.Located || c.kilometres(r.Lat, r.Lon) <= near)
}

func (g *Gazetteer) byName(r Report) *City {
	for _, name := range r.Names {
		var found, main []int // with that name, and with that as their first name
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
