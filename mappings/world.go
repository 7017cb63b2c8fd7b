package mappings

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"riskdex/internal/letters"
	"riskdex/mappings/gazetteer"
)

// Gazetteer says where a Set gets the cities and countries of the world from. The zero
// value means the tables that are part of the program.
type Gazetteer struct {
	Off    bool  // documents get no names and no prominence from it
	Folder fs.FS // with tables that replace built-in ones; nil means the built-in ones
}

// world is what is known about cities and countries.
type world struct {
	*gazetteer.Gazetteer
	off        bool
	codes      map[string]string // of countries, by the folded names of countries.json
	usual      map[string]string // the usual English name of a country, folded, by its code
	demonyms   map[string]string // the codes of countries, by their folded demonyms; empty for one that several have
	titleWords map[string]bool

	countryNames map[string][]string // by code, as asOneWord returns them, folded
	areas        map[string][]*area  // that a country is in, by its code; their names likewise
}

// world returns a function that reads the tables when it is first called, since many
// commands of riskdex need none of them. An operator's tables are read at once, because
// they may be wrong. sum identifies the tables.
func (c countriesFile) world(from Gazetteer) (get func() *world, sum string, err error) {
	read, sum := gazetteer.Builtin, gazetteer.BuiltinSum()
	switch {
	case from.Off:
		read, sum = gazetteer.BuiltinCountries, "off"
	case from.Folder != nil:
		g, err := gazetteer.Load(from.Folder)
		if err != nil {
			return nil, "", fmt.Errorf("reading the gazetteer: %w", err)
		}
		read, sum = func() (*gazetteer.Gazetteer, error) { return g, nil }, g.Sum()
	}
	return sync.OnceValue(func() *world {
		g, err := read()
		if err != nil {
			panic(err) // the built-in tables are broken, which a test would have found
		}
		w := &world{Gazetteer: g, off: from.Off, codes: make(map[string]string), usual: make(map[string]string), demonyms: make(map[string]string), titleWords: make(map[string]bool), countryNames: make(map[string][]string), areas: make(map[string][]*area)}
		for _, code := range slices.Sorted(maps.Keys(c.Names)) {
			for i, name := range c.Names[code] {
				if i == 0 {
					w.usual[code] = gazetteer.Fold(name)
				}
				w.codes[gazetteer.Fold(name)] = code
			}
		}
		for code, names := range c.Demonyms {
			for _, name := range names {
				name = gazetteer.Fold(name)
				if _, again := w.demonyms[name]; again {
					code = ""
				}
				w.demonyms[name] = code
			}
		}
		for _, word := range c.TitleWords {
			w.titleWords[gazetteer.Fold(word)] = true
		}
		for _, a := range c.Areas {
			known := new(area)
			for _, name := range a.Names {
				known.Names = append(known.Names, asOneWord(gazetteer.Plain(name)))
			}
			for _, code := range a.Countries {
				w.areas[code] = append(w.areas[code], known)
			}
		}
		for code := range g.CountryCodes() {
			for name := range g.CountryNames(code) {
				if name = asOneWord(letters.Fold(name)); !slices.Contains(w.countryNames[code], name) {
					w.countryNames[code] = append(w.countryNames[code], name)
				}
			}
		}
		return w
	}), sum, nil
}

// country returns the alpha-2 code of the country with this name or alpha-3 code, or "".
func (w *world) country(name string) string {
	if code := w.called(name); code != "" {
		return code
	}
	if before, within, found := strings.Cut(name, "("); found { // China (PRC)
		code, other := w.formal(before), w.called(strings.Trim(within, ") "))
		if code == "CG" || other != "" && other != code { // there are two Congos
			return ""
		}
		return code
	}
	return w.formal(name)
}

// called returns the country that one of the tables has under a name.
func (w *world) called(name string) string {
	if code := w.codes[gazetteer.Fold(name)]; code != "" {
		return code
	}
	return w.Country(name)
}

// formal returns the country that a formal name means, such as Republic of Kenya, Slovak Republic
// or The Philippines.
func (w *world) formal(name string) string {
	words := strings.Fields(gazetteer.Fold(strings.ReplaceAll(name, ",", " ")))
	isThe := func(word string) bool { return word == "the" }
	words = slices.DeleteFunc(words, isThe)
	if last := len(words) - 1; last > 0 && words[last] == "republic" {
		return w.demonyms[strings.Join(words[:last], " ")]
	}
	if of := slices.Index(words, "of"); of > 0 {
		if !slices.ContainsFunc(words[:of], isState) {
			return ""
		}
		words = words[of+1:]
		if len(words) == 1 && slices.Contains([]string{"congo", "korea", "china", "georgia"}, words[0]) {
			return "" // there are two
		}
	}
	return w.called(strings.Join(words, " "))
}

// isState reports whether a word of a formal name says what kind of state a country is.
func isState(word string) bool {
	return slices.Contains([]string{
		"republic", "kingdom", "state", "commonwealth", "principality", "sultanate", "union", "duchy", "emirate", "federation",
	}, word)
}

// countryTitled returns the country that a title is nothing but a name of, beside words that do not
// say what it is about, and that name.
func (w *world) countryTitled(title string) (code, named string) {
	if code = w.country(title); code != "" { // its commas may be part of the name
		return code, gazetteer.Fold(title)
	}
	named = w.core(title)
	return w.country(named), named
}

// elided removes the article of l'Algérie.
var elided = strings.NewReplacer(" l'", " ", " l’", " ", " L'", " ", " L’", " ")

// core returns a title, folded, without the words at its ends that do not say what it is
// about.
func (w *world) core(title string) string {
	words := strings.Fields(gazetteer.Fold(strings.Map(func(r rune) rune {
		if strings.ContainsRune(":;|/–—!?\"", r) {
			return ' '
		}
		return r
	}, elided.Replace(" "+title))))
	says := func(word string) bool {
		return !w.titleWords[word] && strings.Trim(word, "0123456789") != ""
	}
	for len(words) > 0 && !says(words[0]) {
		words = words[1:]
	}
	for len(words) > 0 && !says(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	return strings.Join(words, " ")
}
