package mappings

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riskdex/report"
)

// field returns one field of the document that is made of body, as compact JSON or "" if it
// is not there, and whether it was reported as unfit.
func field(t *testing.T, s *Set, name, body string) (value string, unfit bool) {
	t.Helper()
	return fieldOf(t, s, report.Cities, name, body)
}

func fieldOf(t *testing.T, s *Set, kind report.Kind, name, body string) (value string, unfit bool) {
	t.Helper()
	doc, unfits, err := s.AppendDocument(nil, change(kind, "1", body))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(doc, &fields); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return string(fields[name]), slices.Contains(unfits, name)
}

func TestFields(t *testing.T) {
	s := builtinSet(t)
	long := strings.Repeat("x ", 600)
	for _, c := range []struct {
		name, body, want string
		unfit            bool
	}{
		{"title", `{"title":"  A\n <b>b</b>&amp;c "}`, `"A b&c"`, false},
		{"title", `{"title":null,"name":"","headline":"x"}`, `"x"`, false},
		{"title", `{"title":1984}`, `"1984"`, false},
		{"title", `{"title":true}`, ``, true},
		{"title", `{"title":{"fr":"y","en":"x"}}`, `"x"`, false},
		{"title", `{"name":{"is":"Lundúnir","en":"London"}}`, `"London"`, false},
		{"title", `{"name":{"is":"Lundúnir","fr":"Londres","local":"London"}}`, `"Lundúnir"`, false},
		{"title", `{"name":{"default":"London","fr":"Londres"}}`, `"London"`, false},
		{"title", `{"name":{"no":"7","id":"8","is":"9"}}`, ``, true},
		{"title", `{"name":{"id":"8","en":"London"}}`, ``, true},
		{"title", `{"title":[]}`, ``, false},
		{"title", `{"title":"` + long + `"}`, ``, true},
		{"title", `{"title":"` + long + `","name":"short"}`, `"short"`, false},
		{"title", `{"Title":"x"}`, `"x"`, false},

		{"names", `{"title":"T","name":"Washington, D.C.","aliases":"DC, District"}`, `["Washington, D.C.","DC","District"]`, false},
		{"names", `{"alternateNames":["a","a",{"name":"b"}],"other_names":"c|d, e"}`, `["c","d","e","a","b"]`, false},
		{"names", `{"aliases":[{"name":"b"}]}`, `["b"]`, false},
		{"names", `{"title":"Oslo","lat":59.9,"lon":10.7,"alt":23}`, ``, false},
		{"names", `{"name":{"en":"London","is":"Lundúnir","no":"London","id":"London","mk":"Лондон","isl":"Lundúnir","tl":"Londres"}}`, `["Lundúnir","Лондон","Londres"]`, false},
		{"names", `{"name":"Oslo","destination":{"cityName":"Oslo","alsoKnownAs":["Christiania","Kristiania"]}}`, `["Christiania","Kristiania"]`, false},
		{"names", `{"name":"Oslo","destination":{"aliases":"Christiania|Kristiania"}}`, `["Christiania","Kristiania"]`, false},
		{"names", `{"name":"Oslo","cityAliases":["Christiania"],"formerlyKnownAs":"Kristiania"}`, `["Christiania","Kristiania"]`, false},
		{"names", `{"name":"Oslo","place":{"aka":{"fr":"Kristiania","de":"Christiania"}}}`, `["Kristiania","Christiania"]`, false},
		{"names", `{"name":"Oslo","otherDestinations":["Bergen"],"other_city":{"aka":["Moss"]},"destination":{"alternatives":["Hamar"]},"nearest_city":{"aka":["Ski"]}}`, ``, false},
		{"names", `{"name":"Oslo","destination":{"country":{"alsoKnownAs":["Norge"]},"region":{"aka":["Viken"]},"airport":{"aliases":["Gardermoen"]},"places":[{"aka":["Tigerstaden"]}]}}`, ``, false},
		{"names", `{"title":"Oslo","name":"Oslo","aliases":["OSLO","Christiania"],"cityOtherNames":["oslo"]}`, `["Christiania"]`, false},
		{"names", `{"title":"São Paulo","name":"Sao Paulo"}`, `["Sao Paulo"]`, false},
		{"country", `{"title":"KE","country":"KE"}`, `"KE"`, false},
		{"airports", `{"title":"MUC","airports":["MUC"]}`, `["MUC"]`, false},

		{"country", `{"country":"gb"}`, `"GB"`, false},
		{"country", `{"country":"United Kingdom"}`, `"GB"`, false},
		{"country", `{"country":"UNITED KINGDOM"}`, `"GB"`, false},
		{"country", `{"country":"Nowhere"}`, ``, true},
		{"country", `{"country":"gbr"}`, `"GB"`, false},
		{"country", `{"country":"UK"}`, `"GB"`, false},
		{"country", `{"country":"XKX"}`, `"XK"`, false},
		{"country", `{"country":"Republic of Kenya"}`, `"KE"`, false},
		{"country", `{"country":"Federal Democratic Republic of Ethiopia"}`, `"ET"`, false},
		{"country", `{"country":"The Philippines"}`, `"PH"`, false},
		{"country", `{"country":"Maldives, The"}`, `"MV"`, false},
		{"country", `{"country":"Slovak Republic"}`, `"SK"`, false},
		{"country", `{"country":"Dominican Republic"}`, `"DO"`, false},
		{"country", `{"country":"China (PRC)"}`, `"CN"`, false},
		{"country", `{"country":"Burma (Myanmar)"}`, `"MM"`, false},
		{"country", `{"country":"Republic of the Congo"}`, `"CG"`, false},
		{"country", `{"country":"Democratic Republic of Congo"}`, `"CD"`, false},
		{"country", `{"country":"A Republic of Congo"}`, ``, true},
		{"country", `{"country":"Congo (East)"}`, ``, true},
		{"country", `{"country":"State of Georgia"}`, ``, true},
		{"country", `{"country":"Eastern Sudan"}`, ``, true},
		{"country", `{"country":"Niger (Nigeria)"}`, ``, true},
		{"country", `{"country":{"label":"France"}}`, `"FR"`, false},
		{"country", `{"countries":[{"iso3":"FRA"},{"countryName":"Belgium"}]}`, `["FR","BE"]`, false},
		{"country", `{"parentCountry":{"name":{"en":"Vietnam"}}}`, `"VN"`, false},
		{"country", `{"country":"Deutschland"}`, `"DE"`, false},
		{"country", `{"country":"Россия"}`, `"RU"`, false},
		{"country", `{"country":"日本"}`, `"JP"`, false},
		{"country", `{"country":"Congo"}`, `"CG"`, false},
		{"country", `{"country":"Korea, Republic of"}`, `"KR"`, false},
		{"country", `{"countries":"United Kingdom, Bosnia and Herzegovina"}`, `["GB","BA"]`, false},
		{"country", `{"countries":"Korea, Democratic People's Republic of"}`, `"KP"`, false},
		{"country", `{"countries":"Guinea Bissau Mali"}`, ``, true},
		{"country", `{"countries":"FR BE, nl"}`, `["FR","BE","NL"]`, false},
		{"country", `{"country":"United Kingdom","country_code":"gb"}`, `"GB"`, false},
		{"country", `{"countries":["fr","FR","be"]}`, `["FR","BE"]`, false},
		{"country", `{"countryCode":"éé"}`, ``, true},

		{"code", `{"code":"lon"}`, `"LON"`, false},
		{"code", `{"code":"a b"}`, ``, true},
		{"code", `{"code":"` + strings.Repeat("x", 40_000) + `"}`, ``, true},

		{"risk_level", `{"risk_level":3}`, `3`, false},
		{"risk_level", `{"risk_level":"4"}`, `4`, false},
		{"risk_level", `{"risk_level":5.0}`, `5`, false},
		{"risk_level", `{"risk_level":3.5}`, ``, true},
		{"risk_level", `{"risk_level":0}`, ``, true},
		{"risk_level", `{"risk_level":6}`, ``, true},
		{"risk_level", `{"risk_level":"1e999"}`, ``, true},
		{"risk_level", `{"risk_level":" LOW "}`, `1`, false},
		{"risk_level", `{"riskLevel":"Moderate"}`, `2`, false},
		{"risk_level", `{"risk_level":{"id":"3","name":"Medium"}}`, `3`, false},
		{"risk_level", `{"risk_level":{"id":77,"name":"High"}}`, `4`, false},
		{"risk_level", `{"risk_level":{"name":"Extreme"}}`, `5`, false},
		{"risk_level", `{"risk_level":"dire"}`, ``, true},
		{"risk_level", `{"risk_level":null}`, ``, false},
		{"risk_level", `{"attributes":{"risk_level":2}}`, `2`, false},
		{"risk_label", `{"risk_level":"dire"}`, `"dire"`, false},
		{"risk_label", `{"risk_level":3}`, ``, false},
		{"risk_label", `{"risk_level":{"id":"3","name":"Medium"}}`, `"Medium"`, false},

		{"airports", `{"airports":"LHR, lgw;STN LHR"}`, `["LHR","LGW","STN"]`, false},
		{"airports", `{"airports":["LHR",{"code":"LGW"}]}`, `["LHR","LGW"]`, false},
		{"airports", `{"airports":["LHR","Heathrow"]}`, `["LHR"]`, true},
		{"airports", `{"airports":[null,""]}`, ``, false},
		{"airports", `{"airports":{"a":1}}`, ``, true},

		{"places", `{"cities":[{"name":"Lille","code":"lil"},"Lens",null,{},{"x":1}]}`, `[{"name":"Lille","code":"LIL"},{"name":"Lens"}]`, false},
		{"places", `{"regions":[{"name":"R","geo":{"lat":1,"lng":"2"}}]}`, `[{"name":"R","location":{"lat":1,"lon":2}}]`, false},
		{"places", `{"regions":[{"name":"R","geo":{"lat":91,"lng":2}}]}`, `[{"name":"R"}]`, true},
		{"places", `{"map":{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"Bank"},"geometry":{"type":"Point","coordinates":[2,1]}}]}}`,
			`[{"name":"Bank","location":{"lat":1,"lon":2}}]`, false},

		{"location", `{"geo":{"lat":51.5,"lng":-0.1}}`, `{"lat":51.5,"lon":-0.1}`, false},
		{"location", `{"lat":"51.5","lng":" -0.1 "}`, `{"lat":51.5,"lon":-0.1}`, false},
		{"location", `{"latitude":0,"longitude":0}`, ``, false}, // what systems write for none
		{"location", `{"location":"51.5, -0.1"}`, `{"lat":51.5,"lon":-0.1}`, false},
		{"location", `{"location":"-0.1,51.5","country":"GB"}`, `{"lat":51.5,"lon":-0.1}`, false},
		{"location", `{"location":"-0.1,51.5","country":"JP"}`, `{"lat":-0.1,"lon":51.5}`, false},
		{"location", `{"location":"-0.1,51.5"}`, `{"lat":-0.1,"lon":51.5}`, false},
		{"location", `{"location":"Central London"}`, ``, false},
		{"location", `{"location":"POINT (-0.1 51.5)"}`, `{"lat":51.5,"lon":-0.1}`, false},
		{"location", `{"location":"Point(-0.1 91)"}`, ``, true},
		{"location", `{"location":"Point Reyes (north)"}`, ``, false},
		{"location", `{"geo_lat":51.5,"geo_long":-0.1}`, `{"lat":51.5,"lon":-0.1}`, false},
		{"location", `{"location":{"type":"Point","coordinates":[-0.1,51.5,12]}}`, `{"lat":51.5,"lon":-0.1}`, false},
		{"location", `{"location":{"type":"Point","coordinates":["-0.1","51.5"]}}`, `{"lat":51.5,"lon":-0.1}`, false},
		{"location", `{"geometry":{"type":"MultiPolygon","coordinates":[[[[0,0],[2,0],[2,2],[0,2],[0,0]]],[[[9,9],[8,8],[7,9],[9,9]]]]}}`, `{"lat":1,"lon":1}`, false},
		{"location", `{"geometry":{"type":"Polygon","coordinates":[[[178,0],[-178,0],[-178,2],[178,2],[178,0]]]}}`, `{"lat":1,"lon":180}`, false},
		{"location", `{"geometry":{"type":"LineString","coordinates":[[0,0],[4,2]]}}`, `{"lat":1,"lon":2}`, false},
		{"location", `{"geometry":{"type":"Polygon","coordinates":[[[1,1],[1,1],[1,1]]]}}`, `{"lat":1,"lon":1}`, false},
		{"location", `{"geo":{"lat":999,"lng":0}}`, ``, true},
		{"location", `{"geo":{"lat":"NaN","lng":0}}`, ``, true},
		{"location", `{"geo":{"lat":"1e400","lng":0}}`, ``, true},
		{"location", `{"geo":{"lat":null,"lng":null}}`, ``, false},
		{"location", `{"geo":{"type":"Polygon","coordinates":[[]]}}`, ``, false},
		{"location", `{"geo":{"type":"Point","coordinates":[1]}}`, ``, true},
		{"location", `{"geo":{"coordinates":[[1,[2]],{}]}}`, ``, true},

		{"starts_at", `{"duration":{"start_date":"2026-07-30"}}`, `"2026-07-30T00:00:00Z"`, false},
		{"starts_at", `{"starts_at":"2026-07-30T12:00:00.5+02:00"}`, `"2026-07-30T10:00:00.5Z"`, false},
		{"starts_at", `{"starts_at":"2026-07-30 12:00:00"}`, `"2026-07-30T12:00:00Z"`, false},
		{"starts_at", `{"starts_at":"2026-07-30T12:00"}`, `"2026-07-30T12:00:00Z"`, false},
		{"starts_at", `{"starts_at":1783641600}`, `"2026-07-10T00:00:00Z"`, false},
		{"starts_at", `{"starts_at":"1783641600"}`, `"2026-07-10T00:00:00Z"`, false},
		{"starts_at", `{"starts_at":1783641600123}`, `"2026-07-10T00:00:00.123Z"`, false},
		{"starts_at", `{"starts_at":20260730}`, `"2026-07-30T00:00:00Z"`, false},
		{"starts_at", `{"starts_at":"20260730"}`, `"2026-07-30T00:00:00Z"`, false},
		{"starts_at", `{"starts_at":20261330}`, ``, true},
		{"starts_at", `{"starts_at":10000101}`, ``, true},
		{"starts_at", `{"starts_at":"30-07-2026"}`, `"2026-07-30T00:00:00Z"`, false},
		{"starts_at", `{"starts_at":"07-08-2026"}`, ``, true},
		{"starts_at", `{"starts_at":"/Date(1783641600000)/"}`, `"2026-07-10T00:00:00Z"`, false},
		{"starts_at", `{"starts_at":"/Date(1783641600000+0200)/"}`, `"2026-07-10T00:00:00Z"`, false},
		{"starts_at", `{"starts_at":"/Date(soon)/"}`, ``, true},
		{"starts_at", `{"starts_at":0}`, ``, true},
		{"starts_at", `{"starts_at":9e99}`, ``, true},
		{"starts_at", `{"starts_at":"2026-02-30"}`, ``, true},
		{"starts_at", `{"starts_at":"0000-01-01"}`, ``, true},
		{"starts_at", `{"starts_at":"9999-12-31T23:59:59-14:00"}`, ``, false}, // none,
		{"starts_at", `{"starts_at":"soon"}`, ``, true},
		{"starts_at", `{"starts_at":""}`, ``, false},
		{"ends_at", `{"duration":{"end_date":"2026-07-31"}}`, `"2026-07-31T23:59:59Z"`, false},
		{"ends_at", `{"ends_at":"2026-07-31T00:00:00Z"}`, `"2026-07-31T00:00:00Z"`, false},

		{"summary", `{"summary":"<p>a</p><p>b</p>"}`, `"a\n\nb"`, false},
		{"summary", `{"summary":"` + strings.Repeat("x ", 400) + `"}`, `"` + strings.Repeat("x ", 297) + `x…"`, false},
		{"summary", `{"summary":"JVBERi0xLjQKJcOk"}`, ``, true},
		{"summary", `{"title":"Trains between the capital and the coast stand still.","tag":"strikes, trains and roads until further notice","parts":[{"fr":"Les trains ne circulent pas avant jeudi à midi.","en":"No trains will run before Thursday noon."},"Buses do."]}`, `"No trains will run before Thursday noon."`, false},
		{"summary", `{"title":"Oslo","phases":["No strike.","One of two"]}`, ``, false},
	} {
		got, unfit := field(t, s, c.name, c.body)
		if got != c.want || unfit != c.unfit {
			t.Errorf("%s of %.120s is %s, unfit %v; want %s, %v", c.name, c.body, got, unfit, c.want, c.unfit)
		}
	}
}

// TestText: `text` has what people can read in a record, and nothing else.
func TestText(t *testing.T) {
	s := builtinSet(t)
	base64 := strings.Repeat("QUJDREVGR0g1", 30)
	for _, c := range []struct{ body, want string }{
		{`{"b":"second","a":["first",{"x":"third"}],"n":1,"t":true,"z":null,"e":"","w":"  "}`, `"second\n\nfirst\n\nthird"`},
		{`{"id":"adv-1","slug":"a-b","attributes":{"name":"Oslo"},"type":"cities"}`, `"Oslo"`},
		{`{"type":"strike","body":"Rail"}`, `"strike\n\nRail"`},
		{`{"geo":{"type":"Point","coordinates":[1,2]}}`, ``},
		{`{"country":"gb","airports":"LHR,LGW","code":"LON","lang":"en","tags":["NATO"]}`, `"NATO"`},
		{`{"country":"Norway"}`, `"Norway"`},
		{`{"a":"https://example.org/a.pdf","b":"www.example.org","c":"/media/a.png","d":"map of town.pdf","e":"plan.PDF","f":"mailto:a@example.org"}`, `"map of town.pdf"`},
		{`{"a":"See https://example.org/x for more"}`, `"See for more"`},
		{`{"a":"2026-07-30","b":"2026-07-30T10:00:00Z","c":"12.5","d":"+44 20 7946 0000"}`, ``},
		{`{"a":"0b7e0ad0-4c3f-4a61-9f0c-0b1de1a1b7aa","b":"d41d8cd98f00b204e9800998ecf8427e","c":"aGVsbG8gd29ybGQ=","d":"Ab3dEfGh1jKlMn0p"}`, ``},
		{`{"file":"any","doc":"JVBERi0xLjQK","img":"data:image/png;base64,iVBORw0KGgo=","raw":"%PDF-1.4 hello","x":"` + base64 + `"}`, ``},
		{`{"mime":"` + base64[:76] + `\r\n` + base64[:76] + `\r\n` + base64[:9] + `"}`, ``},
		{`{"a":"before ` + base64 + ` after"}`, `"before  after"`},
		{`{"a":"before ![x](data:image/png;base64,` + base64 + `) after"}`, `"before x after"`},
		{`{"a":"Wear gloves-and-hats-and-scarves-and-boots-and-coats please"}`, `"Wear gloves-and-hats-and-scarves-and-boots-and-coats please"`},
		{`{"a":"\u0001\u0002\u0003\u0004\u0005PNG"}`, ``},
		{`{"a":"pro\u00adtest\u0000 \u200bnow\u00a0here"}`, `"protest now here"`},
		{`{"a":"東京"}`, `"東京"`},
		{`{"a":"é"}`, `"é"`},
		{`"https://example.org"`, ``},
	} {
		if got, _ := field(t, s, "text", c.body); got != c.want {
			t.Errorf("the text of %.150s is %s, want %s", c.body, got, c.want)
		}
	}
}

// TestTextIsCut: of a text that is too long, the first part stays.
func TestTextIsCut(t *testing.T) {
	words := strings.Repeat("many words ", maxText/22)
	for name, c := range map[string]struct{ body, prefix string }{
		"in the second string": {`["first","` + words + words + words + `","last"]`, `"first\n\nmany`},
		"in the third string":  {`["` + words + `","` + words + `","` + words + `","last"]`, `"many words`},
		"without any space":    {`["` + strings.Repeat("東", maxText/2) + `"]`, `"東`},
	} {
		got, unfit := field(t, builtinSet(t), "text", c.body)
		if !unfit || len(got) > maxText+100 || len(got) < maxText-100 || !strings.HasPrefix(got, c.prefix) ||
			!strings.HasSuffix(got, `many"`) && !strings.HasSuffix(got, `words"`) && !strings.HasSuffix(got, `東"`) {
			t.Errorf("%s: got %d bytes, unfit %v: %.20s…%s", name, len(got), unfit, got, got[len(got)-30:])
		}
		if !utf8.ValidString(got) {
			t.Errorf("%s: half a letter is left", name)
		}
	}
}

// TestFieldsTakeSoMany: of too many values for a field, the first ones stay.
func TestFieldsTakeSoMany(t *testing.T) {
	s := builtinSet(t)
	many := func(n int, format string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(format, i))
		}
		return strings.Join(all, ",")
	}
	letters := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"%c%c%c"`, 'A'+i/676%26, 'A'+i/26%26, 'A'+i%26))
		}
		return strings.Join(all, ",")
	}
	for _, c := range []struct {
		field, body string
		values      int
		unfit       bool
	}{
		{"names", `{"aliases":[` + many(maxValues, `"n%d"`) + `]}`, maxValues, false},
		{"names", `{"aliases":[` + many(maxValues+1, `"n%d"`) + `]}`, maxValues, true},
		{"names", `{"aliases":"` + many(maxValues, `n%d`) + `"}`, maxValues, false},
		{"names", `{"aliases":"` + many(3*maxValues, `n%d`) + `"}`, maxValues, true},
		{"names", `{"cityOtherNames":[` + many(maxValues-1, `"n%d"`) + `]}`, maxValues - 1, false},
		{"names", `{"cityOtherNames":[` + many(maxGuesses+100, `"n%d"`) + `]}`, maxValues, true},
		{"airports", `{"airports":[` + letters(maxValues+100) + `]}`, maxValues, true},
		{"places", `{"places":[` + many(maxValues, `{"name":"p%d"}`) + `]}`, maxValues, false},
		{"places", `{"places":[` + many(maxValues+1, `{"name":"p%d"}`) + `]}`, maxValues, true},
	} {
		got, unfit := field(t, s, c.field, c.body)
		var values []jsontext.Value
		if err := json.Unmarshal([]byte(got), &values); err != nil {
			t.Fatalf("%s of %.60s: %v, %s", c.field, c.body, err, got)
		}
		if len(values) != c.values || unfit != c.unfit {
			t.Errorf("%s of %.40s: %d values, unfit %v", c.field, c.body, len(values), unfit)
		}
	}
}

// TestLongSourceStaysInTheJournal: a source that is one byte too long is left out; without
// that byte it is kept as it is.
func TestLongSourceStaysInTheJournal(t *testing.T) {
	s := builtinSet(t)
	for more, want := range map[int]bool{0: true, 1: false} {
		body := `{"title":"x","file":"` + strings.Repeat("x", maxSource-len(`{"title":"x","file":""}`)+more) + `"}`
		got, unfit := field(t, s, "source", body)
		if (got == body) != want || unfit == want {
			t.Errorf("of %d bytes: %d bytes, unfit %v", len(body), len(got), unfit)
		}
	}
}

// TestFieldsHaveNoMarkdown: what a highlight shows is without it.
func TestFieldsHaveNoMarkdown(t *testing.T) {
	s := builtinSet(t)
	for _, name := range []string{"text", "summary"} {
		body := `{"summary":"**Do not** travel. See [here](https://example.org/x)."}`
		if got, _ := field(t, s, name, body); got != `"Do not travel. See here."` {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestCountriesCovered: what a report covers are its countries; what an insurance covers says nothing
// of them, nor of threats or levels.
func TestCountriesCovered(t *testing.T) {
	s := builtinSet(t)
	for _, c := range []struct {
		kind              report.Kind
		field, body, want string
	}{
		{report.SpecialReports, "country", `{"countriesCovered":["Fiji","Samoa"]}`, `["FJ","WS"]`},
		{report.Advisories, "country", `{"countries_covered":["Fiji"]}`, `"FJ"`},
		{report.Cities, "country", `{"title":"Springfield","coveredCountry":"SE"}`, ""},
		{report.Cities, "threats", `{"title":"Springfield","risksCovered":["War","Kidnapping"]}`, ""},
		{report.Cities, "risk_level", `{"title":"Springfield","riskCovered":"High"}`, ""},
	} {
		if got, _ := fieldOf(t, s, c.kind, c.field, c.body); got != c.want {
			t.Errorf("%s of %s %s: %s, want %s", c.field, c.kind, c.body, got, c.want)
		}
	}
}

// TestFieldsByOtherNames: airports, places and dates are found under names and in forms that no
// mapping file has.
func TestFieldsByOtherNames(t *testing.T) {
	s := builtinSet(t)
	for _, c := range []struct {
		kind              report.Kind
		field, body, want string
	}{
		{report.Cities, "airports", `{"title":"Rome","airfields":["FCO","CIA"]}`, `["FCO","CIA"]`},
		{report.Cities, "airports", `{"title":"Rome","hubs":["Bus","Air"],"gateway":"API"}`, ``},
		{report.SpecialReports, "places", `{"title":"Strike","Cities":"Rome; Milan;Naples"}`, `[{"name":"Rome"},{"name":"Milan"},{"name":"Naples"}]`},
		{report.SpecialReports, "places", `{"title":"Strike","affectedCities":["Rome | Milan","Naples"]}`, `[{"name":"Rome"},{"name":"Milan"},{"name":"Naples"}]`},
		{report.SpecialReports, "places", `{"title":"Strike","cities":"C&ocirc;te d'Azur; K&#246;ln;Köln"}`, `[{"name":"Côte d'Azur"},{"name":"Köln"}]`},
		{report.SpecialReports, "places", `{"title":"Strike","city":"Trinidad &amp; Tobago"}`, `[{"name":"Trinidad & Tobago"}]`},
		{report.SpecialReports, "places", `{"title":"Strike","location":"No specific location; see text"}`, `[{"name":"No specific location; see text"}]`},
		{report.SpecialReports, "places", `{"title":"Strike","city":"Frankfurt, Germany"}`, `[{"name":"Frankfurt, Germany"}]`},
		{report.SpecialReports, "places", `{"title":"Strike","settlements":[{"name":{"en":"Rome","it":"Roma"}},{"name":{"en":"Milan"}}]}`, `[{"name":"Rome"},{"name":"Milan"}]`},
		{report.Cities, "updated_at", `{"titre":"Paris","misAJour":"28/10/2026"}`, `"2026-10-28T00:00:00Z"`},
		// the other dates of a record tell the order of day and month
		{report.SpecialReports, "starts_at", `{"debut":"01/12/2026","misAJour":"28/10/2026"}`, `"2026-12-01T00:00:00Z"`},
		{report.SpecialReports, "ends_at", `{"start_date":"11/30/2026","end_date":"12/01/2026"}`, `"2026-12-01T23:59:59Z"`},
		{report.SpecialReports, "starts_at", `{"start_date":"01/12/2026","updated":"28/10/2026","published":"10/28/2026"}`, ``},
		{report.SpecialReports, "starts_at", `{"start_date":"01/12/2026","end_date":"02/12/2026"}`, ``},
		{report.SpecialReports, "starts_at", `{"start_date":"01-12-2026","end_date":"31-12-2026"}`, `"2026-12-01T00:00:00Z"`},
		{report.SpecialReports, "starts_at", `{"start_date":"12/11/2026","end_date":"12/20/2026 23:59","updated":"20-11-2026"}`, `"2026-12-11T00:00:00Z"`},
		{report.SpecialReports, "starts_at", `{"start_date":"12/11/2026","invoice":"28/10/2026"}`, ``},
	} {
		if got, _ := fieldOf(t, s, c.kind, c.field, c.body); got != c.want {
			t.Errorf("%s of %s %s: %s, want %s", c.field, c.kind, c.body, got, c.want)
		}
	}
}
