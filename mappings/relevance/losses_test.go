package relevance

import (
	"os"
	"strings"
	"testing"

	"riskdex/internal/testkit/relevancetest"
	"riskdex/mappings"
	"riskdex/search"
)

// losses are parts of the query whose loss must not go unnoticed: without each, a class
// falls below its floor.
var losses = []loss{
	{"the boost of codes", "code", "search.json", []string{`"boost": 3000`, `"boost": 0.001`, `"boost": 2500`, `"boost": 0.001`, `"boost": 700`, `"boost": 0.001`}},
	// The gazetteer has common misspellings too.
	{"tolerance for typos", "typo", "search.json", []string{`"fuzziness": "AUTO:4,7"`, `"fuzziness": 0`, `"names_known`, `"no_names`, rareWord, noRareWord}},
	{"other names", "other name", "search.json", []string{`"names`, `"no_names`, `"codes_known`, `"no_codes`}},
	{"names of countries", "country", "search.json", []string{`"country_name`, `"no_country_name`}},
	{"what is in the text", "threat", "search.json", []string{
		`"text`, `"no_text`, `"no_text": "{{words}}"`, `"text": "{{words}}"`, `"field": "no_text`, `"field": "text`, // suggestions stay
		`["no_text.exact"], "analyzer"`, `["text.exact"], "analyzer"`, rareWord, noRareWord, // an unknown field would be an error
	}},
	{"other words for the same threat", "another word", "search.json", []string{`"boost": 0.7,`, `"boost": 0.7, "analyzer": "searched_words",`}},
	{"a place or a country in it", "name and more", "search.json", []string{`.named"`, `.no_named"`, `"region_names`, `"no_names`, rareWord, noRareWord}},
	{"names of regions", "region", "search.json", []string{`"region_names`, `"no_names`}},
	{"a code in it", "code and more", "search.json", []string{`"code.exact", "airports.exact", "codes_known.named"`, `"no_code"`, `code.named"`, `code.no_named"`, `codes_known.named"`, `codes_known.no_named"`, `.typed"`, `.no_typed"`}},
	{"the start of a later word", "prefix", "complete.json", []string{`"bool_prefix"`, `"best_fields"`}},
}

// A word that few reports have makes up for other parts.
const rareWord, noRareWord = `"min_doc_freq": 1,`, `"min_doc_freq": 1000000,`

// loss is a part of a query that is removed from its file: each text is replaced by the
// next one.
type loss struct {
	of, class, file string
	replaced        []string
}

// without asks the queries of a class again after a loss, and expects the class to miss its
// floor.
func without(t *testing.T, x *relevancetest.Index, loss loss, queries []relevancetest.Query) {
	data, err := os.ReadFile("../" + loss.file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for n := 0; n < len(loss.replaced); n += 2 {
		if !strings.Contains(text, loss.replaced[n]) {
			t.Fatalf("%s has no %s", loss.file, loss.replaced[n])
		}
		text = strings.ReplaceAll(text, loss.replaced[n], loss.replaced[n+1])
	}
	if _, err := mappings.LoadWith(loss.file, []byte(text)); err != nil {
		t.Fatal(err)
	}
	alone := search.Bodies{Search: []byte(text), Complete: []byte(text)} // with no place and no threat understood
	var asked []relevancetest.Query
	for _, q := range queries {
		if q.Class == loss.class {
			asked = append(asked, q)
		}
	}
	missed := relevancetest.ByClass(ask(t, x, alone.Body, asked))[loss.class].Below(floors[loss.class])
	if missed == "" {
		t.Errorf("the class %q is as good without %s", loss.class, loss.of)
	}
	t.Logf("without %s, %s: %s", loss.of, loss.class, missed)
}
