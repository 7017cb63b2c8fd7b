package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"riskdex/mappings/gazetteer"
)

// regionsTable makes the table of regions: states, provinces and the like. It also returns their
// codes by the codes that cities.tsv has for them, with the country before them: FR.93. Names of
// countries are left out, in whatever language (墨西哥 is Mexico, and the State of México too), and
// so are those of a city of the region: who types Istanbul means no other city of that province.
func regionsTable(folder string, ofCountry map[string]string) (table []byte, codes map[string]string, err error) {
	rows, err := readTable(filepath.Join(folder, "regions.tsv"))
	if err != nil {
		return nil, nil, err
	}
	usual, err := byKey(folder, "usual_regions.tsv")
	if err != nil {
		return nil, nil, err
	}
	codes = map[string]string{}
	for i, row := range rows[1:] {
		if len(row) != 4 {
			return nil, nil, fmt.Errorf("regions.tsv: row %d has %d columns, want 4", i+2, len(row))
		}
		country, _, _ := strings.Cut(row[0], "-")
		for admin := range strings.FieldsSeq(row[1]) {
			codes[country+"."+admin] = row[0]
		}
	}
	ofCity, err := cityNames(folder, codes)
	if err != nil {
		return nil, nil, err
	}
	var made bytes.Buffer
	made.WriteString("code\tname\tother_names\n")
	for _, row := range rows[1:] {
		code := row[0]
		seen := map[string]bool{}
		var names []string
		add := func(name string, isUsual bool) {
			name = gazetteer.Plain(name)
			key := searched(name)
			letters := utf8.RuneCountInString(name)
			isCode := letters == len(name) && letters < 4
			if name == "" || seen[key] || ofCity[code][key] || !isUsual && (isCode || ofCountry[key] != "" || isWord(key)) {
				return
			}
			seen[key] = true
			names = append(names, name)
		}
		for name := range strings.SplitSeq(row[2]+"|"+row[3], "|") {
			add(name, false)
		}
		for name := range strings.SplitSeq(usual[code], "|") {
			add(name, true)
		}
		delete(usual, code)
		if len(names) > 0 {
			fmt.Fprintf(&made, "%s\t%s\t%s\n", code, names[0], strings.Join(names[1:], "|"))
		}
	}
	if len(usual) > 0 {
		return nil, nil, fmt.Errorf("usual_regions.tsv has regions that are not in regions.tsv: %v", usual)
	}
	return made.Bytes(), codes, nil
}

// countriesCalled returns the codes of the countries that have a name, as searched returns it.
func countriesCalled(table []byte) map[string]string {
	codes := map[string]string{}
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		for name := range strings.SplitSeq(cells[len(cells)-1], "|") {
			codes[searched(name)] += " " + cells[0]
		}
	}
	return codes
}

// cityNames returns the names of the cities of each region, as searched returns them.
func cityNames(folder string, regions map[string]string) (map[string]map[string]bool, error) {
	rows, err := readTable(filepath.Join(folder, "cities.tsv"))
	if err != nil {
		return nil, err
	}
	names := map[string]map[string]bool{}
	for _, row := range rows[1:] {
		if len(row) != 9 {
			continue // citiesTable says so
		}
		region := regions[row[3]+"."+row[4]]
		if names[region] == nil {
			names[region] = map[string]bool{}
		}
		for name := range strings.SplitSeq(row[2]+"|"+row[8], "|") {
			names[region][searched(gazetteer.Plain(name))] = true
		}
	}
	return names, nil
}
