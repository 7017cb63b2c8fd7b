package mappings

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"riskdex/internal/letters"
	"riskdex/internal/vocabulary"
	"riskdex/mappings/gazetteer"
	"riskdex/search"
)

// witness tells searches what the gazetteer and threats.json know of the words of a query. It reads them
// when it is first asked.
type witness struct {
	countries countriesFile
	world     func() *world
	threats   func() *threatWords
	small     map[string]bool
	former    map[string]string                     // countries by the names that they had
	areas     map[string][]search.NamedPlace        // parts of the world by their names
	coded     func() map[string][]search.NamedPlace // cities by their codes, the largest first
	nations   func() []string                       // codes of all countries
	alike     func() []likeName
	begun     func() []begunName
}

// begunName is a name that completes what was typed.
type begunName struct {
	folded, name string
	place        search.NamedPlace
	known        int
}

// likeName is a main name that somebody may misspell, folded.
type likeName struct {
	name  string
	place search.NamedPlace
	known int // how well: people of a city, or of the cities of a country
}

func (s *Set) newWitness(get func() *world) *witness {
	w := &witness{countries: s.countries, world: get, small: s.index.smallWords(), former: map[string]string{}, areas: map[string][]search.NamedPlace{}}
	for code, names := range s.countries.Former {
		for _, name := range names {
			w.former[gazetteer.Fold(name)] = code
		}
	}
	for _, a := range s.countries.Areas {
		for _, name := range a.Names {
			if name = gazetteer.Fold(name); !slices.ContainsFunc(w.areas[name], func(p search.NamedPlace) bool { return p.Name == a.Names[0] }) {
				w.areas[name] = append(w.areas[name], search.NamedPlace{Name: a.Names[0], Countries: a.Countries})
			}
		}
	}
	w.coded = sync.OnceValue(w.codes)
	w.nations = sync.OnceValue(func() []string { return slices.Collect(get().CountryCodes()) })
	w.threats = sync.OnceValue(func() *threatWords { return newThreatWords(s.threats.withoutDoubt()) })
	w.alike = sync.OnceValue(w.mainNames)
	w.begun = sync.OnceValue(w.namesOfAreas)
	return w
}

// smallWords returns the words that the analyzers of index.json take for no names.
func (f indexFile) smallWords() map[string]bool {
	var settings struct {
		Index struct {
			Analysis struct {
				Filter map[string]struct {
					Stopwords any `json:"stopwords"` // a list, or the name of one
				} `json:"filter"`
			} `json:"analysis"`
		} `json:"index"`
	}
	small := map[string]bool{}
	if err := json.Unmarshal(f.Settings, &settings); err == nil {
		for _, name := range []string{"question_words", "small_words"} {
			words, _ := settings.Index.Analysis.Filter[name].Stopwords.([]any)
			for _, word := range words {
				small[gazetteer.Fold(fmt.Sprint(word))] = true
			}
		}
	}
	return small
}

// withoutDoubt returns threats.json with words of several meanings as if they had one: who types them into
// a search for risks means the risk.
func (f *threatsFile) withoutDoubt() *threatsFile {
	sure := &threatsFile{Threats: map[string]threat{}}
	for name, t := range f.Threats {
		words := slices.Clone(t.Words)
		for i, rule := range words {
			words[i] = strings.ReplaceAll(rule, ambiguous, "")
		}
		sure.Threats[name] = threat{t.Labels, words}
	}
	return sure
}

// Small reports whether a word is no name.
func (w *witness) Small(word string) bool { return w.small[word] || isStopWord(word) }

// SaysNothing reports whether a word is one of those around what is asked.
func (w *witness) SaysNothing(word string) bool { return w.world().titleWords[word] }

// Threat returns the threat that words begin with. Between them, words such as and count for nothing, as in
// searches.
func (w *witness) Threat(words []string) (string, int) {
	var said []string
	var upTo []int // how many words those said so far are
	for i, word := range words {
		if i == 0 || !isStopWord(word) {
			said, upTo = append(said, vocabulary.Fold(word)), append(upTo, i+1)
		}
	}
	t := w.threats()
	if of, n := t.part(said); n > 0 {
		return t.names[of], upTo[n-1]
	}
	counts := make([]int, len(t.names))
	t.countScripts(counts, []byte(said[0]))
	for of, n := range counts {
		if n > 0 {
			return t.names[of], 1
		}
	}
	return "", 0
}

// Called returns the places with a name, the best known first.
func (w *witness) Called(name string) (places []search.NamedPlace) {
	world := w.world()
	type known struct {
		search.NamedPlace
		how int
	}
	var all []known
	add := func(p search.NamedPlace, how int) { all = append(all, known{p, how}) }
	code := cmp.Or(world.country(name), world.demonyms[name], w.former[name])
	if strings.EqualFold(world.Alpha3(code), name) && world.codes[name] == "" {
		code = "" // hnd-per: Coded knows codes
	}
	if code != "" && (len(name) > 2 || world.codes[name] != "") {
		how := ofCountry + forMainName
		if world.codes[name] == "" && world.demonyms[name] == "" && w.former[name] == "" { // in one of sixty languages, or nearly in English
			for _, p := range w.better(name, code) {
				add(p, how)
			}
			how = prominenceOf(w.Largest(w.country(code)))
		}
		add(w.country(code), how)
	}
	for _, p := range w.areas[name] {
		add(p, ofCountry)
	}
	var in []*gazetteer.Region
	for c := range world.CitiesCalled(name) {
		in = append(in, world.Region(c))
		add(cityPlace(c), prominenceOf(c)+forName(c.Name, name))
	}
	for r := range world.RegionsCalled(name, w.nations()) {
		p := search.NamedPlace{Name: r.Name, Countries: []string{r.Country}}
		how := ofOther // who types London means no other city of that region
		if !slices.Contains(in, r) {
			how = prominenceOf(w.Largest(p)) + forName(r.Name, name)
		}
		add(p, how)
	}
	slices.SortStableFunc(all, func(a, b known) int { return b.how - a.how })
	for _, k := range all {
		places = append(places, k.NamedPlace)
	}
	return places
}

// forMainName is how much better known a place is by its main name than by others: as if it had ten times as
// many people.
const forMainName = 20

func forName(main, name string) int {
	if rest, found := strings.CutPrefix(gazetteer.Fold(main), name); found && (rest == "" || rest[0] == ' ') { // Washington, D.C.
		return forMainName
	}
	return 0
}

func byPopulation(a, b *gazetteer.City) int { return b.Population - a.Population }

// codes returns the cities by the codes that they and their airports have.
func (w *witness) codes() map[string][]search.NamedPlace {
	all := map[string][]search.NamedPlace{}
	for _, c := range slices.SortedFunc(w.world().Cities(), byPopulation) {
		for code := range c.Codes() {
			if same := func(p search.NamedPlace) bool { return p.City == c }; !slices.ContainsFunc(all[code], same) {
				all[code] = append(all[code], cityPlace(c))
			}
		}
	}
	return all
}

// Coded returns the places with a code: cities, the largest first, then a country.
func (w *witness) Coded(code string) (all []search.NamedPlace) {
	world := w.world()
	all = slices.Clone(w.coded()[code])
	country := world.codes[strings.ToLower(code)] // UK
	if len(code) == 2 && world.Alpha3(code) != "" {
		country = code
	}
	if country = cmp.Or(country, world.Country(code)); country != "" {
		all = append(all, w.country(country))
	}
	return all
}

// better returns the countries with more people than one whose English name is one letter from a name that
// the one has in some language: nigera is Niger in Latvian, and Nigeria.
func (w *witness) better(name, than string) (all []search.NamedPlace) {
	people := 0
	for _, like := range w.alike() {
		if like.place.Country && like.place.Countries[0] == than {
			people = like.known
		}
	}
	for _, like := range w.alike() {
		if like.place.Country && like.place.Countries[0] != than && like.known > people && letters.Edits(name, like.name) == 1 {
			all = append(all, like.place)
		}
	}
	return all
}

// Largest returns the largest city of a country or a region.
func (w *witness) Largest(p search.NamedPlace) (largest *gazetteer.City) {
	world := w.world()
	for c := range world.Cities() {
		in := slices.Contains(p.Countries, c.Country)
		if in && !p.Country && len(p.Countries) == 1 {
			r := world.Region(c)
			in = r != nil && r.Name == p.Name
		}
		if in && (largest == nil || c.Population > largest.Population) {
			largest = c
		}
	}
	return largest
}

func cityPlace(c *gazetteer.City) search.NamedPlace {
	return search.NamedPlace{Name: c.Name, Countries: []string{c.Country}, City: c}
}

func (w *witness) country(code string) search.NamedPlace {
	name := code
	if names := w.countries.Names[code]; len(names) > 0 {
		name = names[0]
	}
	return search.NamedPlace{Name: name, Countries: []string{code}, Country: true}
}

// mainNames returns the names that are tried for a misspelt one.
func (w *witness) mainNames() (all []likeName) {
	world := w.world()
	people := map[string]int{}
	for c := range world.Cities() {
		people[c.Country] += c.Population
		all = append(all, likeName{gazetteer.Fold(c.Name), cityPlace(c), c.Population})
	}
	for _, code := range slices.Sorted(maps.Keys(w.countries.Names)) {
		for _, name := range w.countries.Names[code] {
			all = append(all, likeName{gazetteer.Fold(name), w.country(code), people[code]})
		}
	}
	return all
}

// Like returns the places whose main name is one letter from a name of five letters or more, or two from
// one of eight; the nearest first, then the best known.
func (w *witness) Like(name string) (places []search.NamedPlace) {
	most := 1
	if len(name) >= 8 {
		most = 2
	}
	type found struct {
		likeName
		far int
	}
	var all []found
	for _, like := range w.alike() {
		if strings.HasPrefix(like.name, name) {
			return nil // the beginning of a name is not misspelt
		}
		if len(like.name) < 4 || like.name[0] != name[0] || max(len(like.name)-len(name), len(name)-len(like.name)) > most {
			continue
		}
		if strings.HasPrefix(name, like.name) && len(name) > len(like.name)+1 {
			continue // londonde is more than London
		}
		if far := letters.Edits(name, like.name); far > 0 && far <= most {
			all = append(all, found{like, far})
		}
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(a.far-b.far, b.known-a.known, cmp.Compare(a.name, b.name))
	})
	for _, f := range all {
		places = append(places, f.place)
	}
	return places
}

// namesOfAreas returns the names of countries, regions and parts of the world.
func (w *witness) namesOfAreas() (all []begunName) {
	world := w.world()
	add := func(p search.NamedPlace, known int, names iter.Seq[string]) {
		for name := range names {
			all = append(all, begunName{gazetteer.Fold(name), name, p, known})
		}
	}
	for code := range world.CountryCodes() {
		add(w.country(code), ofCountry, slices.Values(w.countries.Names[code]))
		add(w.country(code), ofNation, world.CountryNames(code))
	}
	for _, a := range w.countries.Areas {
		add(search.NamedPlace{Name: a.Names[0], Countries: a.Countries}, ofLargest, slices.Values(a.Names))
	}
	for r := range world.Regions() {
		p := search.NamedPlace{Name: r.Name, Countries: []string{r.Country}}
		add(p, 0, r.Names())
	}
	return all
}

// Begins returns the countries, regions and parts of the world with a name that begins as was typed, which
// comes folded; after them, if within is set, those with a word within a name that does.
func (w *witness) Begins(typed string, within bool) (found []search.Completion) {
	var all []begunName
	seen := map[string]bool{}
	for _, at := range []bool{false, true} {
		if at && !within {
			break
		}
		from := len(all)
		for _, n := range w.begun() {
			key := n.place.Name + strings.Join(n.place.Countries, "")
			if is := strings.HasPrefix(n.folded, typed); !seen[key] && (is && !at || at && strings.Contains(n.folded, " "+typed)) {
				seen[key] = true
				if n.known == 0 {
					n.known = prominenceOf(w.Largest(n.place)) - ofLargest
				}
				all = append(all, n)
			}
		}
		slices.SortStableFunc(all[from:], func(a, b begunName) int { return cmp.Or(b.known-a.known, cmp.Compare(a.name, b.name)) })
	}
	for _, n := range all {
		c := search.Completion{NamedPlace: n.place}
		if n.name != n.place.Name {
			c.Matched = n.name
		}
		found = append(found, c)
	}
	return found
}

// CityIn returns what a city of some countries is called in a language.
func (w *witness) CityIn(names []string, countries []string, language string) string {
	world := w.world()
	for _, name := range names {
		for _, c := range slices.SortedFunc(world.CitiesCalled(gazetteer.Fold(name)), byPopulation) {
			if slices.Contains(countries, c.Country) {
				return c.In(language)
			}
		}
	}
	return ""
}

// CountryIn returns what a country is called in a language, or else in English.
func (w *witness) CountryIn(code, language string) string {
	return cmp.Or(w.world().CountryIn(code, language), w.country(code).Name)
}
