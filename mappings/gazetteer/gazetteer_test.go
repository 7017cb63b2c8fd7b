package gazetteer

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func builtin(t testing.TB) *Gazetteer {
	t.Helper()
	g, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func folded(names ...string) []string {
	for i := range names {
		names[i] = Fold(names[i])
	}
	return names
}

// TestCity: a city is identified by its code, or by its name with its country or its
// location, and not if more than one namesake is possible.
func TestCity(t *testing.T) {
	g := builtin(t)
	for what, c := range map[string]struct {
		of   Report
		want string // name and country
	}{
		"code":                              {Report{Code: "LON", Names: folded("London")}, "London GB"},
		"code and country":                  {Report{Code: "LON", Names: folded("City report 7"), Countries: []string{"GB"}}, "London GB"},
		"code alone":                        {Report{Code: "LON"}, ""},
		"code of another list":              {Report{Code: "LON", Countries: []string{"US"}, Names: folded("Longview")}, ""},
		"code and name differ":              {Report{Code: "LON", Countries: []string{"GB"}, Names: folded("Manchester")}, "Manchester GB"},
		"code and location differ":          {Report{Code: "LON", Located: true, Lat: 48.85, Lon: 2.35}, ""},
		"name and country":                  {Report{Names: folded("London"), Countries: []string{"CA"}}, "London CA"},
		"other name and country":            {Report{Names: folded("München"), Countries: []string{"DE"}}, "Munich DE"},
		"name in another script":            {Report{Names: folded("東京"), Countries: []string{"JP"}}, "Tokyo JP"},
		"name and a country without it":     {Report{Names: folded("London"), Countries: []string{"FR"}}, ""},
		"name and location":                 {Report{Names: folded("London"), Located: true, Lat: 43, Lon: -81.2}, "London CA"},
		"name, country and another place":   {Report{Names: folded("Portland"), Countries: []string{"US"}, Located: true, Lat: 43.66, Lon: -70.26}, ""},
		"name alone, of two":                {Report{Names: folded("London")}, ""},
		"name alone, of one that is large":  {Report{Names: folded("Mumbai")}, "Mumbai IN"},
		"name alone, of one that is small":  {Report{Names: folded("Ingolstadt")}, ""},
		"namesakes in one country":          {Report{Names: folded("Springfield"), Countries: []string{"US"}}, ""},
		"namesakes, and where it is":        {Report{Names: folded("Springfield"), Countries: []string{"US"}, Located: true, Lat: 37.2, Lon: -93.3}, "Springfield US"},
		"the country's name is no city's":   {Report{Names: folded("México"), Countries: []string{"MX"}}, ""},
		"a second name where a first fails": {Report{Names: folded("Report on a city", "Wien"), Countries: []string{"AT"}}, "Vienna AT"},
		"nothing":                           {Report{}, ""},
	} {
		got := ""
		if city := g.City(c.of); city != nil {
			got = city.Name + " " + city.Country
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

// TestNames: what travellers type is among the names of their city, in every script.
func TestNames(t *testing.T) {
	g := builtin(t)
	for name, report := range map[string]Report{
		"東京": {Names: folded("Tokyo"), Countries: []string{"JP"}}, "Londres": {Code: "LON", Countries: []string{"GB"}}, "Alger": {Code: "ALG", Countries: []string{"DZ"}}, "CDMX": {Code: "MEX", Countries: []string{"MX"}}, "KL": {Code: "KUL", Names: folded("Kuala Lumpur")},
		"Bombay": {Code: "BOM", Countries: []string{"IN"}}, "Мюнхен": {Names: folded("Munich"), Countries: []string{"DE"}},
		"القاهرة": {Names: folded("Cairo"), Countries: []string{"EG"}}, "Peking": {Names: folded("Beijing"), Countries: []string{"CN"}},
	} {
		city := g.City(report)
		if city == nil || !slices.Contains(slices.Collect(city.Names()), name) {
			t.Errorf("%s is not among the names %v", name, city)
		}
	}
	for at := range g.cities {
		c := &g.cities[at]
		for name := range c.Names() {
			if name == "Dual" || name == "Unknown" {
				t.Errorf("%s: %q is a word", c.Name, name)
			}
			if Plain(name) != name && name != c.Name {
				t.Errorf("%s: %q is not in the form in which it is searched, %q", c.Name, name, Plain(name))
			}
		}
	}
}

func TestCountry(t *testing.T) {
	g := builtin(t)
	for code := range g.CountryCodes() {
		for name := range g.CountryNames(code) {
			if Plain(name) != name {
				t.Errorf("%s: %q is not in the form in which it is searched, %q", code, name, Plain(name))
			}
		}
	}
	for name, want := range map[string]string{
		"France": "FR", "france": "FR", "FRA": "FR", "Frankreich": "FR", "法国": "FR", "Франция": "FR", "فرنسا": "FR", "フランス": "FR",
		"Deutschland": "DE", "Allemagne": "DE", "Alemania": "DE", "ドイツ": "DE", "Ελλάδα": "GR", "España": "ES", "भारत": "IN", "대한민국": "KR",
		"Nippon": "", "Korea, Republic of": "KR", "Tanzania, United Republic of": "TZ", "Côte d'Ivoire": "CI", "COTE D’IVOIRE": "CI",
		"French Polynesia": "PF", "Guinea": "GN", "Guinea-Bissau": "GW", "Niger": "NE", "Nigeria": "NG", "Dominica": "DM",
		"Trinidad & Tobago": "TT", "Trinidad and Tobago": "TT", "": "", "Paris": "", "Europe": "",
	} {
		if got := g.Country(name); got != want {
			t.Errorf("%q is of %q, want %q", name, got, want)
		}
	}
	if got := g.Alpha3("FR"); got != "FRA" {
		t.Errorf("FR is %q", got)
	}
	if n := len(g.countries.rows); n < 245 {
		t.Errorf("there are %d countries", n)
	}
}

func TestLoad(t *testing.T) {
	const header = "name\tcountry\tlat\tlon\tpopulation\tother_names\n"
	for table, want := range map[string]string{
		header + "Oslo\tNO\t59.9\t10.7\t580000\tKristiania\n": "",
		"name\tcountry\n":                       `no column "lat"`,
		header + "Oslo\tNO\t59.9\n":             "line 2 has 3 columns",
		header + "Oslo\tNO\tnorth\t10.7\t1\t\n": `line 2: strconv.ParseFloat: parsing "north"`,
		header + "Oslo\tNorway\t1\t10.7\t1\t\n": "line 2: a city needs a name",
	} {
		g, err := Load(fstest.MapFS{"cities.tsv": {Data: []byte(table)}})
		switch {
		case want == "":
			if err != nil || g.City(Report{Names: folded("Kristiania"), Countries: []string{"NO"}}) == nil || g.Country("Norwegen") != "NO" {
				t.Errorf("%q: %v", table, err)
			}
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%q: %v, want %s", table, err, want)
		}
	}
	if _, err := Load(fstest.MapFS{}); err == nil || err.Error() != "the folder has neither cities.tsv nor regions.tsv nor countries.tsv" {
		t.Errorf("without tables: %v", err)
	}
	for _, name := range []string{"cities.tsv", "regions.tsv", "countries.tsv"} { // a table that is there must not be taken for one that is not
		if _, err := Load(fstest.MapFS{name + "/x": {}}); err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "neither") {
			t.Errorf("%s is a folder: %v", name, err)
		}
	}
}

// TestLoadRegions: an operator's regions are read, and what is wrong with them is said.
func TestLoadRegions(t *testing.T) {
	for table, want := range map[string]string{
		"code\tname\tother_names\nNO-46\tVestland\tWestland|West-Norway\n": "",
		"code\tname\nNO-46\tVestland\n":                                    `regions.tsv: line 1 has no column "other_names"`,
		"code\tname\tother_names\nNO46\tVestland\t\n":                      "regions.tsv: line 2: a region needs a name and a code such as DE-BY",
		"code\tname\tother_names\nNO-46\t\tWestland\n":                     "regions.tsv: line 2: a region needs a name",
	} {
		g, err := Load(fstest.MapFS{
			"regions.tsv": {Data: []byte(table)},
			"cities.tsv":  {Data: []byte("name\tcountry\tregion\tlat\tlon\tpopulation\tother_names\nBergen\tNO\tNO-46\t60.4\t5.3\t213000\t\nOslo\tNO\t\t59.9\t10.7\t580000\t\n")},
		})
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %s", table, err, want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		bergen, oslo := g.City(Report{Names: folded("Bergen"), Countries: []string{"NO"}}), g.City(Report{Names: folded("Oslo"), Countries: []string{"NO"}})
		if r := g.Region(bergen); r == nil || !slices.Equal(slices.Collect(r.Names()), []string{"Vestland", "Westland", "West Norway"}) {
			t.Errorf("the region of Bergen is %+v", r)
		}
		if r := g.Region(oslo); r != nil {
			t.Errorf("the region of Oslo is %+v", r)
		}
		for _, c := range []struct {
			name, country string
			found         int
		}{{"west norway", "NO", 1}, {"west norway", "SE", 0}, {"bayern", "DE", 0}} {
			if got := len(slices.Collect(g.RegionsCalled(c.name, []string{c.country}))); got != c.found {
				t.Errorf("%d regions of %s are called %s", got, c.country, c.name)
			}
		}
	}
}

func BenchmarkBuiltin(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Builtin(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCity(b *testing.B) {
	g := builtin(b)
	r := Report{Names: folded("Travel report", "Munich"), Countries: []string{"DE"}}
	b.ReportAllocs()
	for b.Loop() {
		if g.City(r) == nil {
			b.Fatal("Munich is not found")
		}
	}
}

// TestFoldOfASCII: names of ASCII alone are folded like all others, one of which an accent makes
// of them.
func TestFoldOfASCII(t *testing.T) {
	t.Parallel()
	for a := range byte(0x80) {
		for b := range byte(0x80) {
			name := string([]byte{a, 'A', a, b, 'z'})
			if got, want := Fold(name)+"e", Fold(name+"é"); got != want {
				t.Fatalf("%q is folded as %q, with an é as %q", name, got, want)
			}
		}
	}
}

// TestCountryCodesAreYieldedOnce, also of a table that has two rows of a country.
func TestCountryCodesAreYieldedOnce(t *testing.T) {
	t.Parallel()
	table := "code\talpha3\tnames\nNO\tNOR\tNorway\nSE\tSWE\tSweden\nNO\tNOR\tNorge\n"
	g, err := Load(fstest.MapFS{"countries.tsv": {Data: []byte(table)}})
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Collect(g.CountryCodes()); !slices.Equal(got, []string{"NO", "SE"}) {
		t.Errorf("the codes are %v", got)
	}
}
