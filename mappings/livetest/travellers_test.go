package livetest

import (
	"strings"
	"testing"

	"riskdex/internal/elasticserver/elastictest"
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
