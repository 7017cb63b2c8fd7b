package livetest

import (
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/report"
)

// namesakes is a feed in which cities are called, or have for a code, what is a small word
// elsewhere, beside the countries and cities that are meant.
func namesakes() []record {
	city := func(id, name, country, more string) record {
		return record{kind: report.Cities, id: id, body: `{"name":"` + name + `","country":"` + country + `"` + more + `,"body":"Calm."}`}
	}
	nation := func(id, title, country string) record {
		return record{kind: report.Advisories, id: id, body: `{"title":"` + title + `","country":"` + country + `","body":"Take care."}`}
	}
	return []record{
		city("gyor", "Győr", "HU", `,"aliases":"Der"`), city("den", "Denver", "US", `,"code":"DEN"`), city("los", "Lagos", "NG", `,"code":"LOS"`),
		city("got", "Göteborg", "SE", `,"airports":"GOT"`), city("tyre", "Tyre", "LB", `,"aliases":"Sur"`), city("belem", "Belém", "BR", `,"aliases":"Para"`),
		city("san", "San Diego", "US", `,"code":"SAN"`), city("mobile", "Mobile", "US", ""), city("independence", "Independence", "US", ""),
		city("corona", "Corona", "US", ""), city("solo", "Surakarta", "ID", `,"aliases":"Solo"`), city("lon", "London", "GB", `,"code":"LON"`),
		city("atl", "Atlanta", "US", ""), city("van-tr", "Van", "TR", `,"code":"VAN"`), city("van-ca", "Vancouver", "CA", ""),
		city("med-sa", "Medina", "SA", `,"code":"MED"`), city("med-co", "Medellín", "CO", ""), city("singa", "Singa", "SD", ""), city("sin", "Singapore", "SG", ""),
		city("pos", "Port Moresby", "PG", ""), city("cay", "Cayenne", "GF", ""), city("abq", "Albuquerque", "US", ""),
		nation("tr", "Turkey", "TR"), nation("nl", "Netherlands", "NL"), nation("ar", "Argentina", "AR"), nation("ke", "Kenya", "KE"),
		nation("jp", "Japan", "JP"), nation("sm", "San Marino", "SM"), nation("it", "Italy", "IT"), nation("ng", "Nigeria", "NG"), nation("in", "India", "IN"),
		nation("fr", "France", "FR"), nation("gf", "French Guiana", "GF"), nation("as", "American Samoa", "AS"), nation("us", "United States", "US"),
		nation("ws", "Samoa", "WS"), nation("mx", "Mexico", "MX"), nation("pg", "Papua New Guinea", "PG"), nation("gn", "Guinea", "GN"), nation("je", "Jersey", "JE"),
		nation("gb", "United Kingdom", "GB"), nation("al", "Albania", "AL"), nation("tw", "Taiwan", "TW"), nation("ge", "Georgia", "GE"),
	}
}

// TestSmallWordsAreNoPlaces: a country that is named whole comes before a city that has a small
// word of the query for a name or a code; such a name and such a code find the city all the same.
func TestSmallWordsAreNoPlaces(t *testing.T) {
	x := newIndices(t, elastictest.Prefix(t))
	fill(t, x, namesakes())
	for _, c := range []struct{ words, first string }{
		{"Erdbeben in der Türkei", "tr"}, {"Streik in den Niederlanden", "nl"}, {"huelga de los maestros Argentina", "ar"},
		{"consejos de viaje para Japón", "jp"}, {"sécurité sur les routes au Kenya", "ke"}, {"San Marino crime", "sm"}, {"corona cases Italy", "it"},
		{"mobile network down Nigeria", "ng"}, {"Independence Day protests India", "in"}, {"I got robbed in Kenya", "ke"}, {"solo female travel in India", "in"},
		{"French Guiana strike", "gf"}, {"American Samoa storm", "as"}, {"Papua New Guinea crime", "pg"}, {"English strike", "gb"}, {"Welsh flood", "gb"},
		{"臺灣", "tw"}, {"台灣地震", "tw"}, {"Shqipëria", "al"}, {"台灣" + strings.Repeat("地震の安全情報", 5), "tw"},
		{"lon protests", "lon"}, {"LON", "lon"}, {"den", "den"}, {"DEN protests", "den"}, {"LOS wibble", "los"}, {"got", "got"}, {"GOT strike", "got"},
		{"corona wibble", "corona"}, {"Mobile wibble", "mobile"}, {"solo wibble", "solo"}, {"Atlanta Georgia", "atl"}, {"Port Moresby crime", "pos"},
	} {
		if got := first(t, x, x.Set.SearchBody, c.words); !strings.HasPrefix(got+" ", c.first+" ") {
			t.Errorf("%.80q finds %q, want %s first", c.words, got, c.first)
		}
	}
	for words, absent := range map[string]string{"New Mexico": "mx", "New Jersey": "je"} {
		if got := first(t, x, x.Set.SearchBody, words); strings.HasPrefix(got+" ", absent+" ") {
			t.Errorf("%q finds %q, want another than %s first", words, got, absent)
		}
	}
	for _, c := range []struct{ typed, first string }{
		{"den", "den"}, {"lon", "lon"}, {"VAN", "van-tr"},
	} {
		if got := first(t, x, x.Set.CompleteBody, c.typed); !strings.HasPrefix(got+" ", c.first+" ") {
			t.Errorf("%q is completed to %q, want %s first", c.typed, got, c.first)
		}
	}
}

// TestCodesAndNames: capitals alone are the code of a city or of its airport before that of a country,
// also if only the gazetteer knows it; a word that is part of a name is no code.
func TestCodesAndNames(t *testing.T) {
	x := newIndices(t, elastictest.Prefix(t))
	of := func(kind report.Kind, id, body string) record { return record{kind: kind, id: id, body: body} }
	fill(t, x, []record{
		of(report.Cities, "perth", `{"name":"Perth","country":"AU","code":"PER","body":"Calm."}`), of(report.Advisories, "peru", `{"title":"Peru","country":"PE"}`),
		of(report.Cities, "lima", `{"name":"Lima","country":"PE","body":"Calm."}`),
		of(report.Cities, "tokyo", `{"name":"Tokyo","country":"JP","body":"Calm."}`), of(report.Advisories, "honduras", `{"title":"Honduras","country":"HN"}`),
		of(report.Cities, "tegucigalpa", `{"name":"Tegucigalpa","country":"HN","body":"Calm."}`),
		of(report.Cities, "la", `{"name":"Los Angeles","country":"US","body":"Calm."}`), of(report.Advisories, "laos", `{"title":"Laos","country":"LA"}`),
		of(report.Advisories, "palisades", `{"title":"Wildfire in the hills of Los Angeles","country":"US"}`),
		of(report.Cities, "vientiane", `{"name":"Vientiane","country":"LA","body":"Fires in the dry season."}`),
		of(report.Cities, "benghazi", `{"name":"Benghazi","country":"LY","code":"BEN","body":"Its airport is closed."}`),
		of(report.Cities, "tel-aviv", `{"name":"Tel Aviv","country":"IL","code":"TLV","body":"Ben Gurion airport is busy."}`),
		of(report.Cities, "freetown", `{"name":"Freetown","country":"SL","code":"FNA","body":"Scams are known."}`),
		of(report.Cities, "marrakesh", `{"name":"Marrakesh","country":"MA","code":"RAK","body":"Scams are common on Jemaa el-Fna."}`),
		of(report.Cities, "lagos", `{"name":"Lagos","country":"NG","code":"LOS","body":"Calm."}`),
		of(report.Cities, "genoa", `{"name":"Genoa","country":"IT","code":"GOA","body":"Calm."}`),
		of(report.Cities, "bangkok", `{"name":"Bangkok","country":"TH","body":"Calm."}`),
		of(report.Cities, "bissau", `{"name":"Bissau","country":"GW","body":"Calm."}`), of(report.Advisories, "guinea", `{"title":"Guinea","country":"GN","body":"A coup."}`),
		of(report.Advisories, "gw", `{"title":"Guinea-Bissau","country":"GW"}`), of(report.Advisories, "seized", `{"title":"Coup in Guinea-Bissau","country":"GW"}`),
		of(report.Advisories, "sudan", `{"title":"Sudan","country":"SD","body":"Floods."}`), of(report.Advisories, "south-sudan", `{"title":"South Sudan","country":"SS"}`),
		of(report.Advisories, "mexico", `{"title":"Mexico","country":"MX"}`), of(report.Advisories, "cartels", `{"title":"Cartels","body":"A cartel."}`),
		of(report.Cities, "arak", `{"name":"Arāk","country":"IR","body":"Calm."}`), of(report.Advisories, "iraq", `{"title":"Iraq","country":"IQ"}`),
	})
	for words, want := range map[string]string{
		"PER": "perth", "HND": "tokyo", "LA": "la", "LA fires": "palisades", "fires in LA": "palisades", "BEN": "benghazi", "BEN airport": "benghazi", "ben": "benghazi",
		"Ben Gurion airport": "tel-aviv", "ben gurion airport": "tel-aviv", "Jemaa el-Fna scams": "marrakesh", "jemaa el-fna scams": "marrakesh",
		"Los Angelos": "la", "LOS": "lagos", "la grève": "", "flights to Hnd": "tokyo", "hnd-per": "tokyo", "GOA": "genoa", "PE": "peru", "HN": "honduras", "Hnd airport": "tokyo",

		"Guinea-Bissau coup": "seized", "Guinea Bissau": "gw", "South Sudan floods": "south-sudan", "northern Mexico cartel": "mexico", "security situation in Iraq": "iraq",
	} {
		if got := first(t, x, x.Set.SearchBody, words); !strings.HasPrefix(got+" ", want+" ") {
			t.Errorf("%q finds %q, want %q first", words, got, want)
		}
	}
	for _, typed := range []string{"bkk", "BKK"} {
		if got := first(t, x, x.Set.CompleteBody, typed); got != "bangkok" {
			t.Errorf("%q is completed to %q, want bangkok", typed, got)
		}
	}
}

// TestPartsOfTheWorld: a part of the world finds the reports on its countries, and what happens there.
func TestPartsOfTheWorld(t *testing.T) {
	x := newIndices(t, elastictest.Prefix(t))
	of := func(kind report.Kind, id, body string) record { return record{kind: kind, id: id, body: body} }
	fill(t, x, []record{
		of(report.Advisories, "sweden", `{"title":"Sweden","country":"SE"}`), of(report.Advisories, "mali", `{"title":"Mali","country":"ML"}`),
		of(report.Advisories, "kenya", `{"title":"Kenya","country":"KE"}`), of(report.Advisories, "thailand", `{"title":"Thailand","country":"TH"}`),
		of(report.Advisories, "za", `{"title":"South Africa","country":"ZA"}`), of(report.Advisories, "jamaica", `{"title":"Jamaica","country":"JM"}`),
		of(report.Cities, "gao", `{"name":"Gao","country":"ML","body":"Calm."}`), of(report.Cities, "manila", `{"name":"Manila","country":"PH","body":"Kidnapping is known."}`),
		of(report.Advisories, "taken", `{"title":"Engineer abducted on the road","country":"ML"}`), of(report.Advisories, "taken-ph", `{"title":"Kidnapping of a tourist","country":"PH"}`),
	})
	for words, want := range map[string]string{
		"Scandinavia": "sweden", "Skandinavien": "sweden", "Nordic countries": "sweden", "Sahel kidnapping": "taken", "Sahel": "mali", "le Sahel": "mali",
		"West Africa": "mali", "West African kidnapping": "taken", "Caribbean": "jamaica", "caribbean wibble": "jamaica", "Karibik": "jamaica",
		"South Africa wibble": "za", "South-East Asia": "thailand", "東南アジア": "thailand", "东南亚": "thailand", "Southeast Asia kidnapping": "taken-ph",
	} {
		if got := first(t, x, x.Set.SearchBody, words); !strings.HasPrefix(got+" ", want+" ") {
			t.Errorf("%q finds %q, want %s first", words, got, want)
		}
	}
	if got := first(t, x, x.Set.SearchBody, "West Africa"); strings.Contains(got, "kenya") {
		t.Errorf("West Africa finds %q, with kenya, which is elsewhere", got)
	}
}

// TestMisspeltNameAndThreat: a misspelt country or city is found beside a threat that its report does
// not mention; what has a word that only looks like the name of a country is not about it.
func TestMisspeltNameAndThreat(t *testing.T) {
	x := newIndices(t, elastictest.Prefix(t))
	of := func(kind report.Kind, id, body string) record { return record{kind: kind, id: id, body: body} }
	fill(t, x, []record{
		of(report.Advisories, "ecuador", `{"title":"Ecuador","country":"EC","body":"Take care."}`),
		of(report.Advisories, "manipur", `{"title":"Clashes in Manipur: curfew","country":"IN"}`),
		of(report.Cities, "bangkok", `{"name":"Bangkok","country":"TH","body":"Protesters gather."}`),
		of(report.Cities, "lisbon", `{"name":"Lisbon","country":"PT","body":"Calm."}`),
		of(report.Advisories, "protest", `{"title":"Protests in Lisbon","country":"PT"}`),
		of(report.Advisories, "san-marino", `{"title":"San Marino","country":"SM"}`), of(report.Advisories, "marine", `{"title":"Attack on marines at sea"}`),
		of(report.Advisories, "blast", `{"title":"Explosion","country":"PK","body":"A blast."}`), of(report.Advisories, "pakistan", `{"title":"Pakistan","country":"PK"}`),
	})
	for words, want := range map[string]string{
		"Ecquador curfew": "ecuador", "ecuadro curfew": "ecuador", "Bankok protst": "bangkok", "Pakisten explosoin": "pakistan", "marine attack": "marine",
	} {
		if got := first(t, x, x.Set.SearchBody, words); !strings.HasPrefix(got+" ", want+" ") {
			t.Errorf("%q finds %q, want %s first", words, got, want)
		}
	}
}

// TestWhatIsCurrentComesFirst: a country shows what is current there as a whole, then its cities, then what
// happens in one of them; what is over, or only mentions the country, comes last. A time and a city show what
// is valid there then before the city.
func TestWhatIsCurrentComesFirst(t *testing.T) {
	x := newIndices(t, elastictest.Prefix(t))
	of := func(kind report.Kind, id, body string) record { return record{kind: kind, id: id, body: body} }
	soon := time.Now().UTC().Add(24 * time.Hour).Format(time.DateOnly)
	fill(t, x, []record{
		of(report.Cities, "nairobi", `{"name":"Nairobi","country":"KE","body":"Calm."}`), of(report.Cities, "mombasa", `{"name":"Mombasa","country":"KE","body":"Calm."}`),
		of(report.Advisories, "strike", `{"title":"Kenya: strike of all unions","country":"KE","start_date":"2020-01-01"}`),
		of(report.Advisories, "over", `{"title":"Kenya: floods","country":"KE","start_date":"2020-01-01","end_date":"2020-01-05"}`),
		of(report.Advisories, "rally", `{"title":"Rally in Nairobi, Kenya","country":"KE","cities":[{"name":"Nairobi"}],"start_date":"`+soon+`"}`),
		of(report.SpecialReports, "scams", `{"title":"Scams of the world","countries":["KE","FR","US"],"body":"Kenya, too."}`),
		of(report.Cities, "bali", `{"name":"Bāli","country":"IN","body":"Calm."}`), of(report.Cities, "denpasar", `{"name":"Denpasar","country":"ID","body":"Calm."}`),
	})
	for words, want := range map[string]string{
		"Kenya": "strike nairobi mombasa", "is Kenya safe": "strike nairobi mombasa", "Reisehinweise Kenia": "strike nairobi mombasa",
		"Nairobi tomorrow": "rally strike nairobi", "Nairobi": "nairobi", "bali": "denpasar", "kenya floods": "over",
	} {
		if got := first(t, x, x.Set.SearchBody, words); !strings.HasPrefix(got+" ", want+" ") {
			t.Errorf("%q finds %q, want %s first", words, got, want)
		}
	}
}
