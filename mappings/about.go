package mappings

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"riskdex/mappings/gazetteer"
	"riskdex/report"
)

// anchor finds the city that each record is about, by the names in columns; and the countries that the
// words of advisories name.
func (in *inference) anchor() {
	in.cities = make([]*gazetteer.City, in.records)
	in.nations = make([]map[string]bool, in.records)
	in.places = make([][]point, in.records)
	for i := range in.nations {
		in.nations[i] = map[string]bool{}
	}
	if in.kind == report.Cities {
		in.elect(nil)
		return
	}
	for _, c := range in.scalars {
		if !in.isWords(c) || c.of.length < 15 || in.isForeign(c) {
			continue
		}
		for _, v := range c.cells {
			in.mentions(v.record, v.text)
		}
	}
}

// isWords reports whether the values of a column are words, rather than numbers or links.
func (in *inference) isWords(c *column) bool {
	return c.of.letters >= 0.8 && c.of.markup <= 0.2 && c.of.numbers <= 0.2
}

// elect finds the city that each record is about: the one that most columns name, or the largest of them,
// in one of the countries that the record states, if it states any.
func (in *inference) elect(stated [][]string) {
	votes := make([]map[*gazetteer.City]float64, in.records)
	for i := range votes {
		votes[i] = map[*gazetteer.City]float64{}
	}
	for _, c := range in.scalars {
		if in.isWords(c) && c.isPlain() && in.share(c) > 0.3 && c.of.length < 100 && 2*c.of.distinct > c.of.n {
			in.vote(c, votes)
		}
	}
	for i, of := range votes {
		var codes []string
		if stated != nil {
			if codes = stated[i]; codes == nil {
				continue // what was found without stays
			}
		}
		best := 0.0
		in.cities[i] = nil
		for c, n := range of {
			n += float64(c.Population) / 1e9
			if codes != nil && !slices.Contains(codes, c.Country) {
				continue
			}
			if n > best || n == best && in.cities[i] != nil && c.Name+c.Country < in.cities[i].Name+in.cities[i].Country {
				best, in.cities[i] = n, c
			}
		}
		if codes == nil && in.cities[i] != nil {
			codes = []string{in.cities[i].Country}
		}
		in.nations[i] = map[string]bool{}
		for _, code := range codes {
			in.nations[i][code] = true
		}
	}
}

func (in *inference) vote(c *column, votes []map[*gazetteer.City]float64) {
	type ballot struct {
		record int
		cities []*gazetteer.City
		weight float64
	}
	var all []ballot
	named := 0.0
	for _, v := range c.cells {
		found, whole := in.citiesIn(v.text)
		if found == nil {
			continue
		}
		weight := 0.5
		if whole {
			weight = 1
		}
		named += weight
		all = append(all, ballot{v.record, found, weight})
	}
	share := named / float64(c.of.n)
	if share < 0.3 {
		return
	}
	for _, b := range all {
		for _, city := range b.cities {
			votes[b.record][city] += b.weight * share
		}
	}
}

// mentions notes the countries that a text names, and those of the large cities in it.
func (in *inference) mentions(record int, text string) {
	for run := range runs(text, 60, 3) {
		run = strings.Trim(run, ":;,.!?\"«»()’'")
		if len(run) < 4 || !unicode.IsUpper([]rune(run)[0]) {
			continue
		}
		if code := cmp.Or(in.countryOf(run), in.x.world().demonyms[gazetteer.Fold(run)]); code != "" {
			in.nations[record][code] = true
		} else if cities := in.citiesCalled(run); cities != nil && cities[0].Population > 300_000 {
			in.nations[record][cities[0].Country] = true
			in.places[record] = append(in.places[record], point{cities[0].Lat(), cities[0].Lon()})
		}
	}
}

func among(codes []string, known map[string]bool) bool {
	return slices.ContainsFunc(codes, func(code string) bool { return known[code] })
}

// here reports whether a point is where a record is, and whether that is known.
func (in *inference) here(record int, p point) (is, known bool) {
	if city := in.cities[record]; city != nil {
		return city.Kilometres(p.lat, p.lon) < 100, true
	}
	for _, at := range in.places[record] {
		if math.Abs(at.lat-p.lat) < 3 && math.Abs(at.lon-p.lon) < 5 {
			return true, true
		}
	}
	for code := range in.nations[record] {
		b, ok := in.x.boxes[code]
		if !ok {
			continue
		}
		known = true
		if b.holds(p) {
			return true, true
		}
	}
	return false, known
}

// agreement returns the share of a column's values that agree with the record's city, and for how many
// it is known.
func (in *inference) agreement(c *column, agrees func(*gazetteer.City, string) bool) (share float64, known int) {
	n := 0
	for _, v := range c.cells {
		if city := in.cities[v.record]; city != nil {
			known++
			if agrees(city, v.text) {
				n++
			}
		}
	}
	return shareOf(n, known), known
}

// isAbout reports whether the values of a column are about what their records are, as far as names of cities and
// countries in them tell: the title of something else is not.
func (in *inference) isAbout(c *column) bool {
	here, known := 0, 0
	for _, v := range c.cells {
		cities, _ := in.citiesIn(v.text)
		if cities == nil || in.cities[v.record] == nil && len(in.nations[v.record]) == 0 {
			continue
		}
		known++
		if slices.ContainsFunc(cities, func(city *gazetteer.City) bool {
			return city == in.cities[v.record] || in.kind != report.Cities && in.nations[v.record][city.Country]
		}) {
			here++
		}
	}
	return 2*here >= known && (in.kind != report.Cities || known > 0)
}
