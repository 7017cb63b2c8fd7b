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
}

func parseCountries(data []byte) (countryNames, error) {
	var f countriesFile
	if err := decodeStrict(data, &f); err != nil {
		return nil, err
	}
	if len(f.Names) == 0 {
		return nil, errors.New(`"names" is missing`)
	}
	for _, code := range slices.Sorted(maps.Keys(f.Names)) {
		if len(code) != 2 || code[0] < 'A' || code[0] > 'Z' || code[1] < 'A' || code[1] > 'Z' {
			return nil, fmt.Errorf("names: %q is no code of a country: codes are two capital letters", code)
		}
		if len(f.Names[code]) == 0 || slices.Contains(f.Names[code], "") {
			return nil, fmt.Errorf("names: %s has no name, or an empty one", code)
		}
	}
	return f.Names, nil
}

// countryNames writes the names of the countries that were just written, so
// that a search for France finds what has FR. It has to follow countries, whose
// codes are still in x.seen.
func (x *extractor) countryNames() {
	start, count := len(x.dst), 0
	x.member("country_name")
	x.dst = append(x.dst, '[')
	write := func(code string) {
		for _, name := range x.countryTable[code] {
			if count > 0 {
				x.dst = append(x.dst, ',')
			}
			x.dst, _ = jsontext.AppendQuote(x.dst, name)
			count++
		}
	}
	if len(x.seen) == 1 { // as nearly always: nothing to sort
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
