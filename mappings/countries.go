package mappings

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// countryNames is countries.json: what people call a country, by its ISO 3166
// alpha-2 code in upper case.
type countryNames map[string][]string

type countriesFile struct {
	About string       `json:"about"`
	Names countryNames `json:"names"`

	// Demonyms are words for what comes from a country, such as French for FR.
	Demonyms countryNames `json:"demonyms"`

	// Former are names that a country had. Only searches know them.
	Former countryNames `json:"former"`

	// Areas are parts of the world, such as the Sahel.
	Areas []area `json:"areas"`

	// TitleWords are words of a title that do not say what it is about.
	TitleWords []string `json:"title_words"`
}

// area is a part of the world that people search for.
type area struct {
	Names     []string `json:"names"`
	Countries []string `json:"countries"` // their codes
}

func parseCountries(data []byte) (countriesFile, error) {
	var f countriesFile
	if err := decodeStrict(data, &f); err != nil {
		return f, err
	}
	if len(f.Names) == 0 {
		return f, errors.New(`"names" is missing`)
	}
	for _, a := range f.Areas {
		if len(a.Names) == 0 || slices.Contains(a.Names, "") {
			return f, errors.New("areas: one has no name, or an empty one")
		}
		for _, code := range a.Countries {
			if f.Names[code] == nil {
				return f, fmt.Errorf("areas: %s has the country %q, which is not among the names", a.Names[0], code)
			}
		}
	}
	return f, errors.Join(f.Names.check("names"), f.Demonyms.check("demonyms"), f.Former.check("former"))
}

func (n countryNames) check(member string) error {
	for _, code := range slices.Sorted(maps.Keys(n)) {
		if len(code) != 2 || code[0] < 'A' || code[0] > 'Z' || code[1] < 'A' || code[1] > 'Z' {
			return fmt.Errorf("%s: %q is not the code of a country: codes are two capital letters", member, code)
		}
		if len(n[code]) == 0 || slices.Contains(n[code], "") {
			return fmt.Errorf("%s: %s has no name, or an empty one", member, code)
		}
	}
	return nil
}

// countryNames writes the names of the countries that were just written, so that a search
// for France, or for French, finds a report with FR. It must be called right after
// countries, while their codes are in x.seen.
func (x *extractor) countryNames() {
	start, count := len(x.dst), 0
	x.member("country_name")
	x.dst = append(x.dst, '[')
	write := func(code string) {
		for _, names := range [2][]string{x.countryTable.Names[code], x.countryTable.Demonyms[code]} {
			for _, name := range names {
				if count > 0 {
					x.dst = append(x.dst, ',')
				}
				x.dst, _ = jsontext.AppendQuote(x.dst, name)
				count++
			}
		}
	}
	if len(x.seen) == 1 { // nearly always; nothing to sort
		for code := range x.seen {
			write(code)
		}
	} else {
		for _, code := range slices.Sorted(maps.Keys(x.seen)) {
			write(code)
		}
	}
	if count == 0 {
		x.dst = x.dst[:start]
		return
	}
	x.dst = append(x.dst, ']')
}
