package gazetteer

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
)

// City is a city of the table.
type City struct {
	Name       string
	Country    string // ISO 3166 alpha-2
	Population int
	Capital    bool

	region   string // its code in ISO 3166-2
	code     string
	airports string // with spaces between them
	lat, lon float64
	others   string // other names, with | between them
	local    string // its name by language, as in returns it
}

// Codes yields the codes, of three letters, of the city itself and of its airports.
func (c *City) Codes() iter.Seq[string] {
	return func(yield func(string) bool) {
		if c.code != "" && !yield(c.code) {
			return
		}
		for code := range strings.FieldsSeq(c.airports) {
			if !yield(code) {
				return
			}
		}
	}
}

func (g *Gazetteer) parseCities(table string) error {
	g.codes = map[string]int32{}
	lines := strings.Count(table, "\n")
	g.cities = make([]City, 0, lines)
	g.cityNames = make(names, 0, strings.Count(table, "|")+2*lines)
	var f folder
	for r, err := range rows(table, "name", "country", "lat", "lon", "population", "other_names") {
		if err != nil {
			return err
		}
		c := City{
			Name: r.cell("name"), Country: r.cell("country"), region: r.cell("region"), code: strings.ToUpper(r.cell("code")), airports: strings.ToUpper(r.cell("airports")), others: r.cell("other_names"), local: r.cell("local"),
			Capital: r.cell("capital") != "",
		}
		var wrong [3]error
		c.lat, wrong[0] = strconv.ParseFloat(r.cell("lat"), 64)
		c.lon, wrong[1] = strconv.ParseFloat(r.cell("lon"), 64)
		c.Population, wrong[2] = strconv.Atoi(r.cell("population"))
		for _, err := range wrong {
			if err != nil {
				return fmt.Errorf("line %d: %w", r.line, err)
			}
		}
		at := len(g.cities)
		switch {
		case c.Name == "" || len(c.Country) != 2:
			return fmt.Errorf("line %d: a city needs a name and a country of two letters", r.line)
		case at > mostRow:
			return fmt.Errorf("there are more than %d cities", mostRow)
		}
		g.addCity(c, &f)
	}
	g.cityNames.sorted()
	return nil
}

// addCity adds a city without those of its other names that are also names of its country:
// Kuwait means the country.
func (g *Gazetteer) addCity(c City, f *folder) {
	at := len(g.cities)
	if c.code != "" {
		g.codes[c.code] = int32(at)
	}
	var ofCountry []string
	for name := range c.Names() {
		folded := f.fold(name)
		hash := hashOf(folded)
		if name != c.Name && g.countries.mayBe(hash, c.Country) && g.countries.named(string(folded)) == c.Country {
			ofCountry = append(ofCountry, name)
			continue
		}
		g.cityNames.add(hash, at)
	}
	if len(ofCountry) > 0 {
		kept := slices.DeleteFunc(strings.Split(c.others, "|"), func(name string) bool { return slices.Contains(ofCountry, name) })
		c.others = strings.Join(kept, "|")
	}
	g.cities = append(g.cities, c)
}

// In returns what a city is called in a language, of two letters, or "" if that is not known to be another name.
func (c *City) In(language string) string { return in(c.local, language) }

// in returns the name in a language: fr=Londres|it=Londra.
func in(local, language string) string {
	_, rest, _ := strings.Cut("|"+local, "|"+language+"=")
	name, _, _ := strings.Cut(rest, "|")
	return name
}

// Names yields the names of a city: the main one, and the others in the form of Plain.
func (c *City) Names() iter.Seq[string] { return namesOf(c.Name, c.others) }

// namesOf yields a main name and others, with | between them.
func namesOf(name, others string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(name) || others == "" {
			return
		}
		for name := range strings.SplitSeq(others, "|") {
			if !yield(name) {
				return
			}
		}
	}
}

// called reports whether a city has a name, which is folded.
func (c *City) called(folded string) bool { return called(c.Names(), folded) }

func called(names iter.Seq[string], folded string) bool {
	for name := range names {
		if Fold(name) == folded {
			return true
		}
	}
	return false
}

// Kilometres returns how far a city is from a point.
func (c *City) Kilometres(lat, lon float64) float64 { return c.kilometres(lat, lon) }

// Cities yields all cities.
func (g *Gazetteer) Cities() iter.Seq[*City] {
	return func(yield func(*City) bool) {
		for i := range g.cities {
			if !yield(&g.cities[i]) {
				return
			}
		}
	}
}

// CitiesCalled yields the cities that have a name, which is folded.
func (g *Gazetteer) CitiesCalled(folded string) iter.Seq[*City] {
	return func(yield func(*City) bool) {
		for row := range g.cityNames.rows(hashOf(folded)) {
			if c := &g.cities[row]; c.called(folded) && !yield(c) {
				return
			}
		}
	}
}

// Lat and Lon return where a city is, in degrees.
func (c *City) Lat() float64 { return c.lat }

func (c *City) Lon() float64 { return c.lon }

// kilometres returns how far a city is from a point.
func (c *City) kilometres(lat, lon float64) float64 {
	const radius, degree = 6371, math.Pi / 180
	a := math.Sin((c.lat - lat) * degree / 2)
	b := math.Sin((c.lon - lon) * degree / 2)
	return 2 * radius * math.Asin(math.Min(1, math.Sqrt(a*a+math.Cos(lat*degree)*math.Cos(c.lat*degree)*b*b)))
}
