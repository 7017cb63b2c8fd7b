package livetest

import (
	"bytes"
	"io/fs"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
	"riskdex/search"
)

// TestNamedPlaceIsFound: a search that names a place finds its report, whatever else was
// typed; nonsense finds nothing.
func TestNamedPlaceIsFound(t *testing.T) {
	find := found(t, append(feed(),
		record{kind: report.Cities, id: "city-long", body: `{"title":"San Miguel de Tucumán"}`},
		record{kind: report.Cities, id: "city-TYO", body: `{"title":"Tokyo","aliases":["東京"],"country":"JP"}`}))
	for words, want := range map[string]string{
		"oslo zzyzx":                     "city-OSL",
		"zzyzx Oslo?":                    "city-OSL",
		"qwert bombay yuiop":             "city-BOM",
		"São Paulo: wibble, wobble":      "city-SAO",
		"st john's wibble":               "city-YYT",
		"wibble san miguel de tucuman":   "city-long",
		"东 wibble 東京":                    "city-TYO",
		"norway wibble":                  "city-OSL",
		"is it safe to travel to Norway": "city-OSL",
	} {
		if got := find(t, words, search.Query{}); len(got) == 0 || got[0] != want {
			t.Errorf("%q finds %q, want %s first", words, got, want)
		}
	}
	for _, words := range []string{"xylophone", "wibble zzyzx", "what is the flurble", "asdf jkl qwer"} {
		if got := find(t, words, search.Query{}); len(got) > 0 {
			t.Errorf("%q finds %q, want nothing", words, got)
		}
	}
}

// TestTypedWordComesBeforeItsSynonyms: of reports that are alike otherwise, those with the
// word that was typed come first.
func TestTypedWordComesBeforeItsSynonyms(t *testing.T) {
	advisory := func(id, word string) record {
		return record{kind: report.Advisories, id: id, body: `{"title":"Bergen","text":"A strong ` + word + ` was felt."}`}
	}
	find := found(t, []record{advisory("a", "tremor"), advisory("b", "quake"), advisory("c", "earthquake"), advisory("d", "smell")})
	for word, want := range map[string]string{"tremor": "a", "quakes": "b", "earthquakes": "c"} {
		if got := find(t, word+" bergen", search.Query{}); len(got) < 3 || got[0] != want {
			t.Errorf("%s: found %q, want %s before the other two", word, got, want)
		}
	}
}

// TestThreatsFileOfAnOperator: a search uses the synonyms that an operator adds to
// threats.json.
func TestThreatsFileOfAnOperator(t *testing.T) {
	records := []record{{kind: report.Advisories, id: "frogs", body: `{"title":"Raining frogs"}`}}
	for _, known := range []bool{false, true} {
		x := newIndices(t, elastictest.Prefix(t))
		if known {
			data, err := fs.ReadFile(mappings.Files(), "threats.json")
			if err != nil {
				t.Fatal(err)
			}
			data = bytes.Replace(data, []byte(`"tornado, `), []byte(`"amphibian, frog", "tornado, `), 1)
			if x.Set, err = mappings.LoadWith("threats.json", data); err != nil {
				t.Fatal(err)
			}
		}
		fill(t, x, records)
		body, err := x.Set.SearchBody("amphibians", search.Query{})
		if err != nil {
			t.Fatal(err)
		}
		result, err := indices.Search(t.Context(), x.Client, []string{x.Alias(report.Advisories)}, body)
		if err != nil || (len(result.Hits) == 1) != known {
			t.Errorf("known %v: %v, %v", known, result.Hits, err)
		}
	}
}
