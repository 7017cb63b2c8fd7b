package relevance

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"riskdex/mappings"
)

// losses are what must not go unnoticed: parts of the query without which a
// class falls below its floor.
var losses = []struct{ of, file, old, new, class string }{
	{"the boost of codes", "search.json", `"boost": 1000`, `"boost": 0.001`, "code"},
	{"tolerance for typos", "search.json", `"fuzziness": "AUTO:4,7"`, `"fuzziness": 0`, "typo"},
	{"other names", "search.json", `"names`, `"no_names`, "other name"},
	{"names of countries", "search.json", `"country_name`, `"no_country_name`, "country"},
	{"what is in the text", "search.json", `"text`, `"no_text`, "threat"},
	{"other words for the same threat", "search.json", `"analyzer": "searched_threats"`, `"analyzer": "searched_words"`, "another word"},
	{"a name in it", "search.json", `"analyzer": "searched_names"`, `"analyzer": "keyword"`, "name and more"},
	{"the start of a later word", "complete.json", `"bool_prefix"`, `"best_fields"`, "prefix"},
}

// without asks the queries of a class again with a part of the query missing.
func (e *engine) without(t *testing.T, loss struct{ of, file, old, new, class string }, queries []query) {
	files := fstest.MapFS{}
	names, err := fs.Glob(os.DirFS(".."), "*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if name == loss.file {
			if text = strings.ReplaceAll(text, loss.old, loss.new); text == string(data) {
				t.Fatalf("%s has no %s", name, loss.old)
			}
		}
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	set, err := mappings.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	var asked []query
	for _, q := range queries {
		if q.class == loss.class {
			asked = append(asked, q)
		}
	}
	lesser := &engine{set: set, client: e.client, aliases: e.aliases}
	missed := byClass(lesser.ask(t, asked))[loss.class].below(floors[loss.class])
	if missed == "" {
		t.Errorf("the class %q is as good without %s", loss.class, loss.of)
	}
	t.Logf("without %s, %s: %s", loss.of, loss.class, missed)
}
