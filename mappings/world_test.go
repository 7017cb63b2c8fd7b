package mappings

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"riskdex/internal/letters"
	"riskdex/report"
)

// TestGazetteerIsPartOfTheMapping: another gazetteer makes other documents, so an index
// with another hash is needed.
func TestGazetteerIsPartOfTheMapping(t *testing.T) {
	hashes := map[string]string{}
	table := func(name string) Gazetteer {
		return Gazetteer{Folder: fstest.MapFS{"cities.tsv": {Data: []byte("name\tcountry\tlat\tlon\tpopulation\tother_names\n" + name + "\tNO\t60\t10\t1\t\n")}}}
	}
	for what, g := range map[string]Gazetteer{"built in": {}, "off": {Off: true}, "a table": table("Oslo"), "another table": table("Bergen")} {
		s, err := LoadKnowing(builtin, g)
		if err != nil {
			t.Fatal(err)
		}
		hash := s.Hash(report.Cities)
		if other := hashes[hash]; other != "" {
			t.Errorf("%s and %s have one hash", what, other)
		}
		hashes[hash] = what
	}
}

// TestWholeCountry: which reports are about a country as a whole, and which are not.
func TestWholeCountry(t *testing.T) {
	s := builtinSet(t)
	for _, c := range []struct {
		kind                 report.Kind
		body, country, whole string
	}{
		{report.Advisories, `{"title":"Travel advice for India"}`, `"IN"`, `"IN"`},
		{report.Advisories, `{"title":"Frankreich: Reise- und Sicherheitshinweise","country":"FR"}`, `"FR"`, `"FR"`},
		{report.Advisories, `{"title":"The Gambia - Level 2: Exercise increased caution","country":"GM"}`, `"GM"`, `"GM"`},
		{report.Advisories, `{"title":"Strikes in France","country":"FR"}`, `"FR"`, ""},
		{report.Advisories, `{"title":"Strikes in France"}`, "", ""},
		{report.Advisories, `{"title":"Germany","country":"FR"}`, `"FR"`, ""},
		{report.Advisories, `{"title":"France","countries":["FR","BE"]}`, `["FR","BE"]`, ""},
		{report.Advisories, `{"title":"North Korea (Democratic People's Republic of Korea)","country":"KP"}`, `"KP"`, `"KP"`},
		{report.Advisories, `{"title":"Congo (Kinshasa)","country":"CD"}`, `"CD"`, `"CD"`},
		{report.Advisories, `{"title":"France (Paris)","country":"BE"}`, `"BE"`, ""},
		{report.Advisories, `{"title":"Conseils aux voyageurs pour l'Algérie"}`, `"DZ"`, `"DZ"`},
		{report.Advisories, `{"title":"Conseils aux voyageurs pour l’Algérie","country":"DZ"}`, `"DZ"`, `"DZ"`},
		{report.Advisories, `{"title":"Reisehinweise für Kenia"}`, `"KE"`, `"KE"`},
		{report.Advisories, `{"title":"Fiche pays Kenya"}`, `"KE"`, `"KE"`},
		{report.Advisories, `{"title":"Congo, Democratic Republic of the"}`, `"CD"`, `"CD"`},
		{report.Advisories, `{"title":"St Kitts and Nevis"}`, `"KN"`, `"KN"`},
		{report.Advisories, `{"title":"Cote d Ivoire"}`, `"CI"`, `"CI"`},
		{report.Advisories, `{"title":"Israel, the West Bank and Gaza"}`, `"IL"`, `"IL"`},
		{report.Advisories, `{"title":"Kenia: Teilreisewarnung","country":"KE"}`, `"KE"`, `"KE"`},
		{report.Advisories, `{"title":"Kenya: Reconsider your need to travel","country":"KE"}`, `"KE"`, `"KE"`},
		{report.Advisories, `{"title":"Kenya | SafeTravel","country":"KE"}`, `"KE"`, `"KE"`},
		{report.Advisories, `{"title":"Kenya Travel Advice & Safety | Smartraveller","country":"KE"}`, `"KE"`, `"KE"`},
		{report.Advisories, `{"title":"Kenya - Government of Canada","country":"KE"}`, `"KE"`, `"KE"`},
		{report.Advisories, `{"title":"FCDO travel advice: Kenya","country":"KE"}`, `"KE"`, `"KE"`},
		{report.Advisories, `{"title":"Kenya: security status","country":"KE"}`, `"KE"`, `"KE"`},
		{report.Advisories, `{"title":"Kenya - updated 3 July 2026","country":"KE"}`, `"KE"`, `"KE"`},
		{report.Advisories, `{"title":"Safe travel: Kenya","country":"KE"}`, `"KE"`, `"KE"`},
		{report.Advisories, `{"title":"Mexico - See State Summaries","country":"MX"}`, `"MX"`, `"MX"`},
		{report.Advisories, `{"title":"Kenya: strikes at airports","country":"KE"}`, `"KE"`, ""},
		{report.Advisories, `{"title":"Kenya: Mombasa","country":"KE"}`, `"KE"`, ""},
		{report.Advisories, `{"title":"Kenya: the border with Somalia","country":"KE"}`, `"KE"`, ""},
		{report.Advisories, `{"title":"Kenya, Somalia","country":"KE"}`, `"KE"`, ""},
		{report.Advisories, `{"title":"Kenya - what to know","country":"KE","places":[{"name":"Lamu"}]}`, `"KE"`, ""},
		{report.Advisories, `{"title":"Kenya - what to know"}`, "", ""},
		{report.SpecialReports, `{"title":"Kenya: what comes next","country":"KE"}`, `"KE"`, ""},
		{report.Cities, `{"title":"Singapore","country":"SG"}`, `"SG"`, ""},
		{report.Cities, `{"title":"Georgia"}`, "", ""},
		{report.Cities, `{"title":"Granada","latitude":37.18,"longitude":-3.6}`, `"ES"`, ""},
		{report.Cities, `{"title":"Granada","latitude":11.93,"longitude":-85.95}`, "", ""},
		{report.Cities, `{"title":"Granada"}`, "", ""},
		{report.Cities, `{"title":"Jakarta"}`, `"ID"`, ""},
		{report.Cities, `{"title":"Granada, Andalusia, Spain"}`, `"ES"`, ""},
		{report.Cities, `{"title":"Granada – Spain"}`, `"ES"`, ""},
		{report.Cities, `{"title":"Granada - Nicaragua"}`, "", ""},
		{report.Cities, `{"title":"Granada | Spain"}`, `"ES"`, ""},
		{report.Cities, `{"title":"Seoul, Korea, Republic of"}`, `"KR"`, ""},
		{report.Cities, `{"title":"Granada-on-Sea"}`, "", ""},
		{report.Advisories, `{"destination":"Kenya"}`, `"KE"`, `"KE"`},
		{report.Advisories, `{"destination":"Kenya","title":"Floods"}`, `"KE"`, ""},
		{report.Cities, `{"title":"Tripoli","country":"Nowhere","latitude":34.43,"longitude":35.85}`, `"LB"`, ""},
		{report.Advisories, `{"title":"Roads closed","cities":[{"name":"Tripoli","lat":34.43,"lng":35.85},{"name":"Beirut"}]}`, `"LB"`, ""},
		{report.Advisories, `{"title":"Roads closed","cities":[{"name":"Tripoli","lat":34.43,"lng":35.85},{"name":"Jakarta"}]}`, "", ""},
		{report.SpecialReports, `{"title":"Marseille: port closed","latitude":43.3,"longitude":5.37}`, `"FR"`, ""},
	} {
		for name, want := range map[string]string{"country": c.country, "whole_country": c.whole} {
			if got, _ := fieldOf(t, s, c.kind, name, c.body); got != want {
				t.Errorf("%s of %s is %s, want %s", name, c.body, got, want)
			}
		}
	}
}

// TestCodesKnown: the codes that find a report which states none.
func TestCodesKnown(t *testing.T) {
	s := builtinSet(t)
	for _, c := range []struct {
		kind       report.Kind
		body, want string
	}{
		{report.Cities, `{"title":"London","country":"GB"}`, `["BQH","LCY","LGW","LHR","LON","LTN","SEN"]`},
		{report.Cities, `{"title":"London","country":"CA"}`, `["YXU"]`},
		{report.Cities, `{"title":"Springfield","cities":[{"name":"London"}]}`, ""},
		{report.Advisories, `{"title":"A strike","country":"FR","cities":[{"name":"Marseille"},{"name":"Marseille"},{"name":"No such"},{"name":"Lyon"}]}`, `["LYS","MRS"]`},
		{report.Advisories, `{"title":"A strike","country":"CA","cities":[{"name":"London"}]}`, `["YXU"]`},
		{report.SpecialReports, `{"title":"A strike in Marseille","country":"FR"}`, `["MRS"]`},
		{report.SpecialReports, `{"title":"Marseille: port closed","latitude":43.3,"longitude":5.37}`, `["MRS"]`},
		{report.SpecialReports, `{"title":"A strike in Marseille","country":"FR","cities":[{"name":"Lyon"}]}`, `["LYS"]`},
		{report.SpecialReports, `{"title":"A strike in Marseille"}`, ""},
		{report.SpecialReports, `{"title":"Marseille"}`, `["MRS"]`},
		{report.SpecialReports, `{"name":"Marseille"}`, `["MRS"]`},
		{report.SpecialReports, `{"title":"London"}`, ""}, // there are two
	} {
		if got, _ := fieldOf(t, s, c.kind, "codes_known", c.body); got != c.want {
			t.Errorf("of %s %s: %s, want %s", c.kind, c.body, got, c.want)
		}
	}
}

// TestCityNamesKnown: a report on what happens in a city is found by the city's other names,
// one on a whole country by those of none of its cities.
func TestCityNamesKnown(t *testing.T) {
	s := builtinSet(t)
	for _, c := range []struct {
		body string
		want bool
	}{
		{`{"title":"A strike in Marseille","country":"FR"}`, true},
		{`{"title":"A strike","country":"FR","cities":[{"name":"Marseille"}]}`, true},
		{`{"title":"A strike","country":"FR"}`, false},
		{`{"title":"France","country":"FR","cities":[{"name":"Marseille"}]}`, false},
	} {
		got, _ := fieldOf(t, s, report.Advisories, "city_names_known", c.body)
		if has := strings.Contains(got, "Марсель"); has != c.want {
			t.Errorf("of %s: %s", c.body, got)
		}
	}
}

// TestRegionNamesKnown: a report is found by all names of the region that its city is in, or that it
// is about; one on a whole country by those of none of its regions.
func TestRegionNamesKnown(t *testing.T) {
	s := builtinSet(t)
	for _, c := range []struct {
		kind       report.Kind
		body, name string
		want       bool
	}{
		{report.Cities, `{"title":"Munich","country":"DE"}`, "Bayern", true},
		{report.Cities, `{"title":"Houston","country":"US"}`, "テキサス", true},
		{report.Cities, `{"title":"Palma","country":"ES"}`, "Majorca", true},
		{report.Cities, `{"title":"Springfield"}`, "Illinois", false}, // there are several
		{report.Advisories, `{"title":"Flooding in Munich","country":"DE"}`, "Bayern", true},
		{report.Advisories, `{"title":"Flooding","country":"DE","cities":[{"name":"Munich"}]}`, "Bayern", true},
		{report.Advisories, `{"title":"Flooding: parts of Bavaria","country":"DE"}`, "Bayern", true},
		{report.Advisories, `{"title":"Flooding","country":"DE","regions":[{"name":"Bayern"}]}`, "Bavaria", true},
		{report.Advisories, `{"title":"Flooding in Bavaria"}`, "Bayern", false}, // of which country, is not said
		{report.Advisories, `{"title":"Flooding in Bavaria","country":"FR"}`, "Bayern", false},
		{report.Advisories, `{"title":"Protests in Punjab","country":"IN"}`, "Pencap", true},
		{report.Advisories, `{"title":"Protests in Georgia","country":["GE","US"]}`, "ジョージア州", false},
		{report.Advisories, `{"title":"Germany","country":"DE","cities":[{"name":"Munich"}]}`, "Bayern", false},
	} {
		got, _ := fieldOf(t, s, c.kind, "region_names_known", c.body)
		if has := slices.Contains(strings.Fields(strings.Trim(got, `"`)), c.name); has != c.want {
			t.Errorf("of %s %s: %s", c.kind, c.body, got)
		}
	}
	got, _ := fieldOf(t, s, report.Cities, "region_names_known", `{"title":"San José","country":"CR"}`)
	if !strings.Contains(got, "圣何塞省") || slices.Contains(strings.Fields(strings.Trim(got, `"`)), "San_José") {
		t.Errorf("San José must have the names of its region but its own: %s", got)
	}
}

// TestKnownNamesAreWords: the index does not clean the names of a gazetteer, so documents
// have them clean, those of an operator's table too.
func TestKnownNamesAreWords(t *testing.T) {
	table := "name\tcountry\tlat\tlon\tpopulation\tother_names\nOslo\tNO\t60\t10\t1\tKristiania|N’Oslo-by, (old)|O\u0308sl\u1ecd\u0301\n"
	s, err := LoadKnowing(builtin, Gazetteer{Folder: fstest.MapFS{"cities.tsv": {Data: []byte(table)}}})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := fieldOf(t, s, report.Cities, "names_known", `{"title":"Oslo","country":"NO"}`)
	if want := `"Kristiania NOslo_by_old Öslọ"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestCountryNamesAreFolded: the index takes names of countries as they are written, so they have the form to
// which it brings what somebody types, and those that languages share are there once.
func TestCountryNamesAreFolded(t *testing.T) {
	s := builtinSet(t)
	for code, want := range map[string]string{"AZ": "azarbaycan", "GR": "ελλαδα", "CI": "cote_divoire"} {
		got, _ := fieldOf(t, s, report.Advisories, "country_names_known", `{"title":"Strike","country":"`+code+`"}`)
		names := strings.Fields(strings.Trim(got, `"`))
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among the names of %s: %q", want, code, names)
		}
		seen := map[string]bool{}
		for _, name := range names {
			if seen[name] || letters.Fold(name) != name {
				t.Errorf("%s: %q is there twice, or not folded", code, name)
			}
			seen[name] = true
		}
	}
}
