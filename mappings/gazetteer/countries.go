package gazetteer

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// countries is the table of countries, sorted by code.
type countries struct {
	rows  []country
	names names
}

type country struct{ code, alpha3, local, names string }

func parseCountries(table string) (countries, error) {
	var all countries
	for r, err := range rows(table, "code", "alpha3", "names") {
		if err != nil {
			return all, err
		}
		c := country{r.cell("code"), r.cell("alpha3"), r.cell("local"), r.cell("names")}
		if len(c.code) != 2 || len(c.alpha3) != 3 && c.alpha3 != "" {
			return all, fmt.Errorf("line %d: the codes of a country have two and three letters", r.line)
		}
		all.rows = append(all.rows, c)
	}
	slices.SortFunc(all.rows, func(a, b country) int { return strings.Compare(a.code, b.code) })
	var f folder
	add := func(name string, at int) { all.names.add(hashOf(f.fold(name)), at) }
	for at, c := range all.rows {
		for name := range strings.SplitSeq(c.names, "|") {
			add(name, at)
		}
		if c.alpha3 != "" {
			add(c.alpha3, at)
		}
	}
	all.names.sorted()
	return all, nil
}

func (a *countries) find(code string) *country {
	at, ok := slices.BinarySearchFunc(a.rows, code, func(c country, code string) int { return strings.Compare(c.code, code) })
	if !ok {
		return nil
	}
	return &a.rows[at]
}

// Country returns the ISO 3166 alpha-2 code of the country that has a name or an alpha-3
// code, or "" if none or several have it. "Korea, Republic of" is read as Republic of
// Korea.
func (g *Gazetteer) Country(name string) string {
	if code := g.countries.named(Fold(name)); code != "" {
		return code
	}
	if last, first, ok := strings.Cut(name, ","); ok {
		return g.countries.named(Fold(first + " " + last))
	}
	return ""
}

// mayBe reports whether a country may have a name with that hash.
func (a *countries) mayBe(hash uint64, code string) bool {
	for row := range a.names.rows(hash) {
		if a.rows[row].code == code {
			return true
		}
	}
	return false
}

func (a *countries) named(folded string) string {
	code, first := "", false
	for row := range a.names.rows(hashOf(folded)) {
		c := &a.rows[row]
		main, called := c.called(folded)
		switch {
		case !called:
		case code == "" || main && !first:
			code, first = c.code, main
		case main == first:
			return "" // several have it
		}
	}
	return code
}

// called reports whether a country has a name, which is folded, and whether that is its
// first one, in English.
func (c *country) called(folded string) (first, any bool) {
	if strings.EqualFold(c.alpha3, folded) {
		return true, true
	}
	n := 0
	for name := range strings.SplitSeq(c.names, "|") {
		if Fold(name) == folded {
			return n == 0, true
		}
		n++
	}
	return false, false
}

// Alpha3 returns the ISO 3166 alpha-3 code of a country, or "" if it is not known.
func (g *Gazetteer) Alpha3(code string) string {
	if c := g.countries.find(code); c != nil {
		return c.alpha3
	}
	return ""
}

// CountryIn returns what a country is called in a language, of two letters, or "" if that is not known.
func (g *Gazetteer) CountryIn(code, language string) string {
	if c := g.countries.find(code); c != nil {
		return in(c.local, language)
	}
	return ""
}

// Regions yields all regions.
func (g *Gazetteer) Regions() iter.Seq[*Region] {
	return func(yield func(*Region) bool) {
		for i := range g.regions.rows {
			if !yield(&g.regions.rows[i]) {
				return
			}
		}
	}
}

// CountryNames yields the names of a country in many languages, in the form of Plain.
func (g *Gazetteer) CountryNames(code string) iter.Seq[string] {
	return func(yield func(string) bool) {
		c := g.countries.find(code)
		if c == nil {
			return
		}
		for name := range strings.SplitSeq(c.names, "|") {
			if !yield(name) {
				return
			}
		}
	}
}

// CountryCodes yields the codes of all countries, each once.
func (g *Gazetteer) CountryCodes() iter.Seq[string] {
	return func(yield func(string) bool) {
		last := ""
		for _, c := range g.countries.rows {
			if c.code != last && !yield(c.code) {
				return
			}
			last = c.code
		}
	}
}
