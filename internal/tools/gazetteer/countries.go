package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"riskdex/mappings/gazetteer"
)

// languages are those in which the table has the names of all countries: those of many
// speakers or many countries, in every script in wide use.
const languages = "en ar az be bg bn bs ca cs da de el es et eu fa fi fil fr gl gu he hi hr hu hy id is it ja ka kk km kn ko ky lo lt lv mk ml mn mr ms my ne nl no pa pl pt ro ru si sk sl sq sr sr-Latn sv sw ta te th tr uk ur uz vi zh zh-Hant zu am"

// ownNames are other languages with the countries where they are official. The table has what
// these countries are called in them.
const ownNames = "af:ZA,NA ak:GH az-Cyrl:AZ cy:GB dz:BT fo:FO ga:IE,GB gd:GB ha:NE,NG kl:GL lb:LU mfe:MU mg:MG mt:MT nd:ZW om:ET qu:PE,BO,EC rm:CH rn:BI rw:RW " +
	"sg:CF sn:ZW so:SO,DJ tg:TJ ti:ER,ET tk:TM tzm:MA,DZ uz-Cyrl:UZ yo:NG ig:NG"

// reserved are codes for which CLDR has names, but which ISO 3166 gives to no country.
const reserved = "AC CP DG EA EZ IC TA UN"

// countriesTable makes the table of countries: the two codes of ISO 3166, names by
// language, and all names.
func countriesTable(folder string) ([]byte, error) {
	formal, err := readTable(filepath.Join(folder, "formal.tsv"))
	if err != nil {
		return nil, err
	}
	others := map[string]string{}
	for _, row := range formal {
		others[row[0]] = row[1]
	}
	var table bytes.Buffer
	table.WriteString("code\talpha3\tlocal\tnames\n")
	for first := 'A'; first <= 'Z'; first++ {
		for second := 'A'; second <= 'Z'; second++ {
			code := string([]rune{first, second})
			region, err := language.ParseRegion(code)
			if err != nil || !region.IsCountry() || region.String() != code || region.Canonicalize() != region || strings.Contains(reserved, code) {
				continue
			}
			names, err := countryNames(region, others[code])
			if err != nil {
				return nil, err
			}
			if len(names) > 1 {
				fmt.Fprintf(&table, "%s\t%s\t%s\t%s\n", code, region.ISO3(), localNames(region), strings.Join(names, "|"))
			}
		}
	}
	return table.Bytes(), nil
}

// shown are the languages in which hits show countries: those of text_in.
const shown = "fr de es it pt nl no da sv fi ru tr ar zh ja ko"

func localNames(region language.Region) string {
	var names []string
	for code := range strings.FieldsSeq(shown) {
		names = append(names, code+"="+display.Regions(language.MustParse(code)).Name(region))
	}
	return strings.Join(names, "|")
}

func countryNames(region language.Region, formal string) ([]string, error) {
	seen := map[string]bool{"": true}
	var names []string
	add := func(name string) {
		name = gazetteer.Plain(name)
		if !seen[searched(name)] && !isWord(gazetteer.Fold(name)) {
			seen[searched(name)] = true
			names = append(names, name)
		}
	}
	in := strings.Fields(languages)
	for own := range strings.FieldsSeq(ownNames) {
		if code, countries, _ := strings.Cut(own, ":"); strings.Contains(countries, region.String()) {
			in = append(in, code)
		}
	}
	for _, code := range in {
		tag, err := language.Parse(code)
		if err != nil {
			return nil, err
		}
		namer := display.Regions(tag)
		if namer == nil {
			return nil, fmt.Errorf("there are no names of countries in %s", code)
		}
		add(namer.Name(region))
	}
	for name := range strings.SplitSeq(formal, "|") {
		add(name)
	}
	return names, nil
}
