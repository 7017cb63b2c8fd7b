package samplefeed

import (
	"bytes"
	_ "embed" // for the two tables
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

//go:embed cities.csv
var cityTable []byte

//go:embed countries.csv
var countryTable []byte

// city is one row of cities.csv with what countries.csv says about its country.
type city struct {
	code, name, country, countryName string
	lat, lng                         float64
	population                       int
	airports, aliases                []string
	tags                             []string // by which sentences are chosen
}

func rows(name string, table []byte) ([][]string, error) {
	all, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return all[1:], nil
}

func readCities() ([]city, error) {
	countries, err := rows("countries.csv", countryTable)
	if err != nil {
		return nil, err
	}
	byCode := map[string][]string{}
	for _, row := range countries {
		byCode[row[0]] = row
	}
	table, err := rows("cities.csv", cityTable)
	if err != nil {
		return nil, err
	}
	cities := make([]city, 0, len(table))
	for _, row := range table {
		country, ok := byCode[row[2]]
		if !ok {
			return nil, fmt.Errorf("cities.csv: %s is in %s, which countries.csv does not have: add it there", row[1], row[2])
		}
		c := city{code: row[0], name: row[1], country: row[2], countryName: country[1]}
		var errs [3]error
		c.lat, errs[0] = strconv.ParseFloat(row[3], 64)
		c.lng, errs[1] = strconv.ParseFloat(row[4], 64)
		c.population, errs[2] = strconv.Atoi(row[5])
		for _, err := range errs {
			if err != nil {
				return nil, fmt.Errorf("cities.csv: %s: %w", row[1], err)
			}
		}
		c.airports = strings.Fields(row[6])
		c.aliases = strings.FieldsFunc(row[7], func(r rune) bool { return r == '|' })
		c.tags = c.features(append(strings.Fields(country[3]), country[2]))
		cities = append(cities, c)
	}
	return cities, nil
}

// features adds to the tags of the city's country those that follow from the city's own
// facts.
func (c city) features(tags []string) []string {
	add := func(yes bool, tag, otherwise string) {
		if yes {
			tags = append(tags, tag)
		} else if otherwise != "" {
			tags = append(tags, otherwise)
		}
	}
	add(c.coastal(), "coast", "inland")
	add(len(c.airports) > 1, "airports", "oneairport")
	add(len(c.aliases) > 0, "alias", "")
	add(math.Abs(c.lat) < 23.4, "tropics", "")
	add(c.lat > 44, "cold", "")
	add(c.lat < -10, "south", "")
	add(!slices.Contains(tags, "left"), "right", "")
	return tags
}

// coastal reports whether the city lies by the sea.
func (c city) coastal() bool {
	return strings.Contains(" SHA IST BUE BOM KHI TSN CAN SZX LOS JKT TYO NYC LIM HKG RIO LED SYD MAA MEL ALY PUS ABJ SIN CPT "+
		"CAS DUR JED LAD MNL SSA DAR OSA MGQ IZM DKR FOR SUB HAV ALG ACC GYE BEY PER SDQ NGO BNE RBA BCN KHH STO MAR "+
		"CGP FUK BAQ TIJ DLA UPG SRG MVD ADL DVO MPM CPH TIP HIJ DXB BAK DUB ODS PLZ USN NAP CTG MLW KIN MBA CEB MCT MRS "+
		"COO LPL FNA DAD LFW TRU RIX AMS AGA TUN TNG GES ATH NKC PNR BEN PMO CMB ORN VLC PAP DHA TNN ",
		" "+c.code+" ")
}

// subject returns what the sentences of the city's report are about.
func (c city) subject(places int) subject {
	return subject{tags: c.tags, facts: map[string]string{
		"city": c.name, "code": c.code, "country": c.countryName,
		"airport": c.airports[0], "airports": list(c.airports), "others": list(c.aliases),
		"population": fmt.Sprintf("about %.1f million people", float64(c.population)/1e6),
		"position":   fmt.Sprintf("%.2f degrees of latitude and %.2f of longitude", c.lat, c.lng),
		"count":      strconv.Itoa(places),
	}}
}

// list joins names as a sentence does.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
