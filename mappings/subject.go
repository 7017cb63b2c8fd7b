package mappings

import (
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"riskdex/mappings/gazetteer"
	"riskdex/report"
)

// subject is what a report says about its city or country. It is collected while the
// document is made.
type subject struct {
	kind        report.Kind
	code, title string
	names       []string // sorted
	countries   []string // sorted
	located     bool
	at          point
	places      []placeOf // the first ones, in order
}

// placeOf is what a report says about one of its places.
type placeOf struct {
	name    string
	located bool
	at      point
}

// maxPlacesKnown bounds how many places of a report are looked up.
const maxPlacesKnown = 20

// wantsPlaces reports whether another place of the report is to be looked up. Those of a
// city report are not: they are in the city or near it.
func (s *subject) wantsPlaces() bool {
	return s.kind != report.Cities && len(s.places) < maxPlacesKnown
}

// Prominence, from 0 to 100, puts what most people mean first among hits that are equally
// good.
const (
	ofCountry  = 100 // the report on a country as a whole, titled by its usual English name
	ofNation   = 95  // the same, titled by another name, perhaps in another language
	ofLargest  = 90  // the most for a city, reached at about 30 million people; a capital gets forCapital on top
	ofCity     = 40  // a city of 100,000 people
	ofOther    = 20  // a city that the gazetteer does not know
	ofAdvisory = 10
	ofSpecial  = 5
	forCapital = 5
)

// written returns the text of a field that was written at start, or "" if none was.
func (x *extractor) written(start int, name string) string {
	value := start + len(`,"":`) + len(name)
	if value >= len(x.dst) {
		return ""
	}
	text, err := jsontext.AppendUnquote(nil, x.dst[value:])
	if err != nil {
		return ""
	}
	return string(text)
}

// listed returns the values of the list that was just written, sorted.
func (x *extractor) listed() []string { return slices.Sorted(maps.Keys(x.seen)) }

// countryOfTitle writes the country of an advisory or a special report that states none, if
// its title is nothing but a country's name.
func (x *extractor) countryOfTitle() {
	kind := x.subject.kind
	if len(x.seen) > 0 || x.subject.title == "" || kind != report.Advisories && kind != report.SpecialReports {
		return
	}
	w := x.world()
	if code, _ := w.countryTitled(x.subject.title); code != "" {
		x.countryOf(code)
	}
}

// countryOf writes the one country that a report which states none must be in.
func (x *extractor) countryOf(code string) {
	x.member("country")
	value := len(x.dst)
	x.quote([]byte(code))
	x.seen[code] = struct{}{}
	x.trace.note(x, "country", 0, fits, value)
}

// countryOfCities writes the country of a report that states none, if all the cities that it is
// about are in one.
func (x *extractor) countryOfCities(about []*gazetteer.City) {
	elsewhere := func(c *gazetteer.City) bool { return c.Country != about[0].Country }
	if len(x.subject.countries) > 0 || len(about) == 0 || slices.ContainsFunc(about, elsewhere) {
		return
	}
	clear(x.seen)
	x.countryOf(about[0].Country)
	x.subject.countries = []string{about[0].Country}
	x.countryNames()
}

// fromGazetteer writes what the gazetteer knows about the city or the countries of a
// report.
func (x *extractor) fromGazetteer() {
	s := &x.subject
	if s.kind == report.Probe {
		return
	}
	w := x.world()
	var about []*gazetteer.City
	whole, prominence := false, ofSpecial
	switch s.kind {
	case report.Cities:
		prominence = ofOther
		if city := w.City(x.cityReport(w)); city != nil {
			about, prominence = []*gazetteer.City{city}, prominenceOf(city)
		}
	case report.Advisories:
		prominence = ofAdvisory
		fallthrough
	default:
		about = x.citiesAbout()
	}
	x.countryOfCities(about)
	if s.kind != report.Cities && len(s.countries) == 1 {
		code, named := w.countryTitled(s.title)
		if before, _, found := strings.Cut(s.title, "("); found && code == "" { // Myanmar (Burma)
			named = w.core(before)
			code = w.country(named)
		}
		if code == "" && s.kind == report.Advisories && len(s.places) == 0 {
			code, named = x.countrySetOff()
		}
		if whole = code == s.countries[0]; whole {
			x.member("whole_country")
			x.quote([]byte(s.countries[0]))
			prominence = ofNation
			if named == w.usual[s.countries[0]] {
				prominence = ofCountry
			}
		}
	}
	switch {
	case s.kind == report.Cities && len(about) > 0:
		x.joined("names_known", func(yield func(string) bool) {
			for name := range about[0].Names() {
				if name != s.title && !isAbbreviation(name) && !slices.Contains(s.names, name) && !yield(nameOf(about[0], name)) {
					return
				}
			}
			if joined := strings.ReplaceAll(about[0].Name, " ", ""); joined != about[0].Name {
				yield(asOneWord(gazetteer.Plain(joined))) // as many people type it: LosAngeles
			}
		})
	case s.kind != report.Cities && !whole:
		x.namesAbout(about)
	}
	var regions []*gazetteer.Region
	if !whole {
		regions = x.regionsAbout(about)
	}
	x.regionNames(regions)
	x.codesKnown(about)
	x.texts("country_alpha3", func(yield func(string) bool) {
		for _, code := range s.countries {
			if alpha3 := w.Alpha3(code); alpha3 != "" && !yield(alpha3) {
				return
			}
		}
	})
	if !w.off {
		x.joined("country_names_known", func(yield func(string) bool) {
			for _, code := range s.countries {
				for _, name := range w.countryNames[code] {
					if !yield(name) {
						return
					}
				}
			}
		})
	}
	x.member("prominence")
	x.dst = strconv.AppendInt(x.dst, int64(prominence), 10)
}

// countrySetOff returns the country of an advisory whose title begins or ends with that country,
// set off from what else it says, and the name that the title has for it. The rest must name no
// other country, no city, no day and no threat: `Kenya | SafeTravel` is about the whole of Kenya,
// `Kenya: strikes` about strikes. A publisher may state its own country.
func (x *extractor) countrySetOff() (code, named string) {
	s, w := &x.subject, x.world()
	parts := segments(s.title)
	if len(parts) < 2 {
		return "", ""
	}
	at := 0
	if named = w.core(parts[0]); w.country(named) != s.countries[0] {
		at = len(parts) - 1
		if named = w.core(parts[at]); w.country(named) != s.countries[0] {
			return "", ""
		}
	}
	for i, part := range parts {
		if i != at && !x.saysNothing(part) {
			return "", ""
		}
	}
	return s.countries[0], named
}

// saysNothing reports whether a part of a title names nothing that a report is about.
func (x *extractor) saysNothing(part string) bool {
	w := x.world()
	if strings.HasPrefix(part, "Government of ") {
		return true
	}
	for run := range runs(w.core(part), maxPlacesKnown, mostWords) {
		if w.country(run) != "" || w.demonyms[run] != "" || w.City(gazetteer.Report{Names: []string{run}}) != nil ||
			w.City(gazetteer.Report{Names: []string{run}, Countries: x.subject.countries}) != nil {
			return false
		}
	}
	return !x.threatWords.mayMention([]byte(part))
}

// citiesAbout returns the cities that an advisory or a special report is about: those among
// its places and names, with a title that is nothing else, or else the one that its title names.
func (x *extractor) citiesAbout() (about []*gazetteer.City) {
	s, w := &x.subject, x.world()
	find := func(name string, located bool, at point) bool {
		r := gazetteer.Report{Names: []string{gazetteer.Fold(name)}, Countries: s.countries, Located: located, Lat: at.lat, Lon: at.lon}
		c := w.City(r)
		if c != nil && !slices.Contains(about, c) {
			about = append(about, c)
		}
		return c != nil
	}
	named := func(name string) bool { // an event may be far from the place that it affects
		return s.located && find(name, true, s.at) || find(name, false, point{})
	}
	for _, p := range s.places {
		if p.located {
			find(p.name, true, p.at)
		} else {
			named(p.name)
		}
	}
	named(s.title)
	for _, name := range s.names[:min(len(s.names), maxPlacesKnown)] {
		named(name)
	}
	if len(about) > 0 || len(s.countries) == 0 && !s.located {
		return about
	}
	for run := range namesIn(s.title) {
		if named(run) {
			break
		}
	}
	return about
}

// namesIn yields what may be a name in a title: up to mostWords words that do not begin with a
// small letter, the longest first.
func namesIn(title string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for run := range runs(title, maxPlacesKnown, mostWords) {
			if first, _ := utf8.DecodeRuneInString(run); !unicode.IsLower(first) && !yield(strings.Trim(run, ":;,.!?\"«»()")) {
				return
			}
		}
	}
}

// runs yields up to n words that stand beside each other in the first words of a text, the longest first.
func runs(text string, first, n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		words := strings.Fields(text)
		words = words[:min(len(words), first)]
		for ; n > 0; n-- {
			for i := range len(words) - n + 1 {
				if !yield(strings.Join(words[i:i+n], " ")) {
					return
				}
			}
		}
	}
}

// mostWords is how many words the name of a city or a region in a title may have.
const mostWords = 4

// mostRegions bounds of how many regions a document has the names.
const mostRegions = 3

// regionsAbout returns the regions of the cities that a report is about, or else those among its
// places and names, or else the first in its title, so that a search for Bayern finds the report on
// Munich, and the flood in Bavaria.
func (x *extractor) regionsAbout(about []*gazetteer.City) (regions []*gazetteer.Region) {
	s, w := &x.subject, x.world()
	add := func(r *gazetteer.Region) {
		if r != nil && len(regions) < mostRegions && !slices.Contains(regions, r) {
			regions = append(regions, r)
		}
	}
	for _, c := range about {
		add(w.Region(c))
	}
	find := func(name string) {
		folded := gazetteer.Fold(name)
		for r := range w.RegionsCalled(folded, s.countries) {
			if w.country(folded) != "" {
				return
			}
			add(r)
		}
	}
	if s.kind != report.Cities && len(about) == 0 && len(s.countries) > 0 {
		for _, p := range s.places {
			find(p.name)
		}
		for _, name := range s.names[:min(len(s.names), maxPlacesKnown)] {
			find(name)
		}
		if len(regions) == 0 {
			for run := range namesIn(s.title) {
				if find(run); len(regions) > 0 {
					break
				}
			}
		}
	}
	return regions
}

// mostAreas bounds of how many countries a document has the parts of the world.
const mostAreas = 5

// regionNames writes the names of regions, and of the parts of the world that the countries of an
// advisory or a special report are in. City reports have none of these, which would make their index
// larger.
func (x *extractor) regionNames(regions []*gazetteer.Region) {
	var areas []*area
	if x.subject.kind != report.Cities {
		for _, code := range x.subject.countries[:min(len(x.subject.countries), mostAreas)] {
			for _, a := range x.world().areas[code] {
				if !slices.Contains(areas, a) {
					areas = append(areas, a)
				}
			}
		}
	}
	x.joined("region_names_known", func(yield func(string) bool) {
		for _, r := range regions {
			for name := range r.Names() {
				if !yield(asOneWord(name)) {
					return
				}
			}
		}
		for _, a := range areas {
			for _, name := range a.Names {
				if !yield(name) {
					return
				}
			}
		}
	})
}

// namesAbout writes the names of the first cities that a report is about, so that a search
// for Марсель finds the strike in Marseille.
func (x *extractor) namesAbout(cities []*gazetteer.City) {
	const most = 3
	x.joined("city_names_known", func(yield func(string) bool) {
		for _, c := range cities[:min(most, len(cities))] {
			for name := range c.Names() {
				if !isAbbreviation(name) && !yield(nameOf(c, name)) {
					return
				}
			}
		}
	})
}

// nameOf returns one of the names of a city as asOneWord does.
func nameOf(c *gazetteer.City, name string) string {
	if name == c.Name {
		name = gazetteer.Plain(name)
	}
	return asOneWord(name)
}

// asOneWord returns a name in the form of gazetteer.Plain as the analyzer known_names takes it: it has
// only to lower its case and to fold its letters, where one that cleans names as well would
// double what a document costs Elasticsearch.
func asOneWord(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '_'
		case r >= 0x300 && r <= 0x36f: // a mark that no letter is composed with
			return -1
		}
		return r
	}, name)
}

// isAbbreviation reports whether a name is one such as LA, or CDMX.
func isAbbreviation(name string) bool {
	return len(name) <= 4 && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// codesKnown writes the codes of cities and of their airports, and abbreviations of their names, so
// that a search for MRS finds the strike in Marseille.
func (x *extractor) codesKnown(cities []*gazetteer.City) {
	var codes []string
	for _, c := range cities {
		codes = slices.AppendSeq(codes, c.Codes())
		for name := range c.Names() {
			if isAbbreviation(name) {
				codes = append(codes, name)
			}
		}
	}
	slices.Sort(codes)
	x.texts("codes_known", slices.Values(slices.Compact(codes)))
}

func prominenceOf(c *gazetteer.City) int {
	if c == nil {
		return ofOther
	}
	p := ofCity + 20*math.Log10(float64(max(c.Population, 1))/100_000)
	p = min(max(p, ofOther+1), ofLargest)
	if c.Capital {
		p += forCapital
	}
	return int(math.Round(p))
}

// cityReport returns what a city report says about its city. A title may have the country
// after a comma or in brackets, and words that say nothing.
func (x *extractor) cityReport(w *world) gazetteer.Report {
	s := &x.subject
	r := gazetteer.Report{Code: s.code, Countries: s.countries, Located: s.located, Lat: s.at.lat, Lon: s.at.lon}
	add := func(name string) {
		if name != "" && !slices.Contains(r.Names, name) {
			r.Names = append(r.Names, name)
		}
	}
	add(gazetteer.Fold(s.title))
	if parts := segments(s.title); len(parts) > 1 {
		after := s.title[strings.Index(s.title, parts[0])+len(parts[0]):]
		for _, named := range []string{strings.Trim(after, ",(): |–—-"), parts[len(parts)-1]} { // the country may have a comma itself
			country := w.country(named)
			if country != "" && (len(r.Countries) == 0 || slices.Contains(r.Countries, country)) {
				r.Countries = []string{country}
				add(gazetteer.Fold(parts[0]))
				break
			}
		}
	}
	for _, name := range s.names {
		add(gazetteer.Fold(name))
	}
	add(w.core(s.title))
	return r
}

// bars puts a bar where something sets parts of a title off. It is made once, because making it
// takes longer than using it.
var bars = strings.NewReplacer(" - ", "|", " – ", "|", " — ", "|", ",", "|", "(", "|", ")", "|", ":", "|")

// segments returns the parts of a title that commas, brackets, colons, bars and dashes set off. A
// dash within a word is part of it.
func segments(title string) (parts []string) {
	for part := range strings.SplitSeq(bars.Replace(title), "|") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// texts writes a list of at most maxValues texts, unless it is empty. It returns where in
// x.dst the list starts, or 0 if there is none.
func (x *extractor) texts(name string, all iter.Seq[string]) (value int) {
	start, count := len(x.dst), 0
	x.member(name)
	value = len(x.dst)
	x.dst = append(x.dst, '[')
	for text := range all {
		if count == maxValues {
			break
		}
		if count > 0 {
			x.dst = append(x.dst, ',')
		}
		x.dst, _ = jsontext.AppendQuote(x.dst, text)
		count++
	}
	if count == 0 {
		x.dst = x.dst[:start]
		return 0
	}
	x.dst = append(x.dst, ']')
	return value
}

// joined writes at most maxValues names, none of which has a space, as one text: Elasticsearch
// analyzes one text of many words much faster than as many texts.
func (x *extractor) joined(name string, all iter.Seq[string]) {
	start, count := len(x.dst), 0
	x.member(name)
	x.cleaned = x.cleaned[:0]
	for text := range all {
		if count == maxValues {
			break
		}
		if count > 0 {
			x.cleaned = append(x.cleaned, ' ')
		}
		x.cleaned = append(x.cleaned, text...)
		count++
	}
	if count == 0 {
		x.dst = x.dst[:start]
		return
	}
	x.dst, _ = jsontext.AppendQuote(x.dst, x.cleaned)
}
