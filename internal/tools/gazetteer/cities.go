package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"riskdex/mappings/gazetteer"
)

// citiesTable makes the table of cities, the largest first. regions are the codes of their regions,
// as regionsTable returns them, and ofCountry the names of countries, as countriesCalled does.
func citiesTable(folder string, ofCountry, regions map[string]string) ([]byte, error) {
	rows, err := readTable(filepath.Join(folder, "cities.tsv"))
	if err != nil {
		return nil, err
	}
	capitals, err := readTable(filepath.Join(folder, "capitals.tsv"))
	if err != nil {
		return nil, err
	}
	byID := map[string]map[string]string{}
	for _, name := range []string{"airports", "usual", "today", "local"} {
		if byID[name], err = byKey(folder, name+".tsv"); err != nil {
			return nil, err
		}
	}
	airports, usual, today, local := byID["airports"], byID["usual"], byID["today"], byID["local"]
	var table bytes.Buffer
	table.WriteString("code\tairports\tname\tcountry\tregion\tlat\tlon\tpopulation\tcapital\tlocal\tother_names\n")
	used := 0
	for i, row := range rows[1:] {
		if len(row) != 9 {
			return nil, fmt.Errorf("cities.tsv: row %d has %d columns, want 9", i+2, len(row))
		}
		code, name, country := row[1], row[2], row[3]
		capital := slices.ContainsFunc(capitals, func(c []string) bool { return c[0] == country && c[1] == name })
		mark := ""
		if capital {
			used++
			mark = "1"
		}
		lat, err := degrees(row[5])
		if err != nil {
			return nil, err
		}
		lon, err := degrees(row[6])
		if err != nil {
			return nil, err
		}
		of := code
		if of == "" {
			of = row[0]
		}
		fmt.Fprintf(&table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", code, airports[of], name, country, regions[country+"."+row[4]], lat, lon, row[7], mark, local[of], otherNames(name, row[8]+"|"+today[of], usual[of], func(name string) bool {
			return ofCountry[name] != "" && !strings.Contains(ofCountry[name], country)
		}))
		delete(usual, of)
	}
	if len(usual) > 0 {
		return nil, fmt.Errorf("usual.tsv has cities that are not in cities.tsv: %v", usual)
	}
	if used != len(capitals) {
		return nil, fmt.Errorf("capitals.tsv names %d capitals, of which %d are in cities.tsv", len(capitals), used)
	}
	return table.Bytes(), nil
}

// byKey reads a table of what cities and regions have. A city has its code as a key, or its
// geonameid if it has none.
func byKey(folder, file string) (map[string]string, error) {
	rows, err := readTable(filepath.Join(folder, file))
	if err != nil {
		return nil, err
	}
	has := map[string]string{}
	for i, row := range rows[1:] {
		if len(row) != 2 {
			return nil, fmt.Errorf("%s: row %d has %d columns, want 2", file, i+2, len(row))
		}
		has[row[0]] = row[1]
	}
	return has, nil
}

// degrees rounds to three decimals, about a hundred metres.
func degrees(text string) (string, error) {
	d, err := strconv.ParseFloat(text, 64)
	return strconv.FormatFloat(d, 'f', 3, 64), err
}

// otherNames returns the other names as they are searched, each once. It leaves out notes
// in brackets, and what is not a name: texts with digits, and one or two letters, which are
// codes. It also leaves out the names of other countries in Latin letters: who types Iraq does not
// mean Arāk. usual are names that stay as they are.
func otherNames(name, list, usual string, isOtherCountry func(searched string) bool) string {
	seen := map[string]bool{searched(name): true}
	var names []string
	for other := range strings.SplitSeq(list, "|") {
		if at := strings.IndexAny(other, "([,،"); at >= 0 {
			other = other[:at]
		}
		other = gazetteer.Plain(other)
		folded := gazetteer.Fold(other)
		switch letters := utf8.RuneCountInString(other); {
		case letters == len(other) && letters < 3, letters > 60, isWord(folded), strings.ContainsAny(other, "0123456789/"), seen[searched(other)], isLatin(other) && isOtherCountry(searched(other)):
			continue
		}
		seen[searched(other)] = true
		names = append(names, other)
	}
	for other := range strings.SplitSeq(usual, "|") {
		if other != "" && !seen[searched(other)] {
			names = append(names, other)
		}
	}
	return strings.Join(names, "|")
}

// searched returns a name as the index compares it: without the marks of Latin letters only.
// Україна and Украіна are two names.
func searched(name string) string {
	if isLatin(name) {
		return gazetteer.Fold(name)
	}
	return strings.ToLower(gazetteer.Plain(name))
}

func isLatin(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(unicode.Latin, r) })
}

// isWord reports whether a name is a common English word, which people type for its English
// meaning. Many small towns have such names in another alphabet, and Iceland has one in
// German.
func isWord(folded string) bool {
	return slices.Contains([]string{
		"basic", "caller", "can", "central", "drug", "dual", "gold", "google", "hang", "island", "log", "lone", "man", "name", "okay", "pre", "rest", "turn", "unknown",
	}, folded)
}

func readTable(path string) ([][]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return tsv(file, path)
}

func tsv(from io.Reader, path string) ([][]string, error) {
	r := csv.NewReader(from)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rows, nil
}
