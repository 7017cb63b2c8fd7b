package mappings

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestMistakes: all that is wrong in a file is found at once, each mistake with its line
// and a reason for people, and none that only follows from another.
func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		want []string
	}{
		"fine":              {`{"roots": [""]}`, nil},
		"unknown name":      {"{\"roots\": [\"\"],\n\"feilds\": {}}", []string{`line 2: "feilds" is not a known name`}},
		"repeated name":     {"{\"roots\": [\"\"],\n\n\"roots\": []}", []string{`line 3: "roots" occurs twice`}},
		"bad pointer":       {"{\"roots\": [\"\",\n\"a\"]}", []string{`line 2: /roots/1: a pointer is "" or starts with "/"; "~" is written ~0 and "/" in a name ~1`}},
		"bad JSON":          {"{\"roots\": [\"\"],\n\n\n,}", []string{"line 4: this is not JSON: invalid character ',' at start of string"}},
		"breaks off":        {"{\n\"roots\":", []string{"line 2: this is not JSON: unexpected EOF"}},
		"empty":             {"", []string{"line 1: this is not JSON: unexpected EOF"}},
		"two values":        {"{\"roots\": [\"\"]}\n{}", []string{"line 2: this is not JSON: invalid character '{' after top-level value"}},
		"no object":         {"\n[]", []string{`line 2: an object belongs in the file, not an array`}},
		"array wanted":      {"{\"roots\":\n\"\"}", []string{`line 2: /roots: an array belongs here, not a string`}},
		"object wanted":     {"{\"roots\": [\"\"], \"places\":\n[{}]}", []string{`line 2: /places: an object belongs here, not an array`}},
		"string wanted":     {"{\"roots\": [\"\"], \"not_text\": [\n5]}", []string{`line 2: /not_text/0: a string belongs here, not a number`}},
		"number wanted":     {"{\"roots\": [\"\"], \"risk_levels\": {\n\"low\": \"1\"}}", []string{`line 2: /risk_levels/low: a whole number belongs here, not a string`}},
		"no whole number":   {"{\"roots\": [\"\"], \"risk_levels\": {\n\"low\": 1.5}}", []string{`line 2: /risk_levels/low: a whole number belongs here`}},
		"null for a string": {"{\"roots\": [\nnull]}", []string{`line 2: /roots/0: a pointer is "" or starts with "/"; "~" is written ~0 and "/" in a name ~1`}},
		"split of one":      {"{\"roots\": [\"\"], \"fields\": {\"names\": [{\"at\": \"/a\", \"split\": \";\"}], \"title\": [\"/t\",\n{\"at\": \"/b\", \"split\": \";\"}]},\n\"places\": {\"name\": [{\"at\": \"\", \"split\": \";\"}]}}", []string{`line 2: "split" is for names, country and airports; title`, `line 3: "split" is for names, country and airports; places.name`}},
		"no root":           {"{\n\"roots\": []}", []string{`line 2: "roots" is empty: "" is the record itself`}},
		"level":             {"{\"roots\": [\"\"], \"risk_levels\": {\n\"Low\": 1,\n\"dire\": 6}}", []string{`line 2: risk_levels: write "Low" in lower case`, `line 3: risk_levels: "dire" is level 6`}},
		"several": {"{\"roots\": {},\n\"fields\": {\"code\": [\"x\",\n\"/ok\", \"~\"],\n\"nmes\": [],\n\"names\": [{\"at\": \"/a\", \"at\": \"/b\", \"spilt\": \";\"}]},\n\"risk_levels\": {\"Low\": 9}, \"x\": 1, \"about\": 7}",
			[]string{`line 1: /roots:`, `line 2: /fields/code/0:`, `line 3: /fields/code/1:`, `line 4: "nmes"`, `line 5: "at" occurs twice`, `line 5: "spilt"`, `line 6: "x"`, `line 6: /about:`}},
	} {
		_, err := parseKind([]byte(c.file))
		wrong, _ := errors.AsType[Mistakes](err)
		if err != nil && wrong == nil {
			t.Errorf("%s: %v is no Mistakes", name, err)
		}
		matches := len(wrong) == len(c.want)
		for i := range min(len(wrong), len(c.want)) {
			matches = matches && strings.HasPrefix(strings.TrimPrefix(wrong[i].Error(), "mapping file : "), c.want[i])
		}
		if !matches {
			t.Errorf("%s: got\n%v\nwant\n%s", name, wrong, strings.Join(c.want, "\n"))
		}
	}
}

// TestMistakesOfAllFiles: a folder's mistakes are reported together.
func TestMistakesOfAllFiles(t *testing.T) {
	files := builtinFiles(t)
	delete(files, "advisories.json")
	for name, text := range map[string]string{"cities.json": "{", "index.json": `{"settings":{},"mappings":{"_meta":{}}}`, "search.json": "[]"} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	_, err := Load(files)
	wrong, _ := errors.AsType[Mistakes](err)
	var names []string
	for _, m := range wrong {
		names = append(names, m.File)
	}
	if want := []string{"cities.json", "advisories.json", "index.json", "search.json"}; !slices.Equal(names, want) {
		t.Errorf("mistakes in %v, want %v: %v", names, want, err)
	}
}

// FuzzParseKind: looking for mistakes ends, whatever the file is, and every line reported
// is one of the file.
func FuzzParseKind(f *testing.F) {
	for _, text := range []string{`{"roots":[""],"fields":{"names":[{"at":"/x","at":1}]},"x":{}}`, "{\n\"roots\":[,", `[1,[2]]`, ` {"":{"":[]}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := parseKind(data)
		wrong, is := errors.AsType[Mistakes](err)
		if err != nil && (!is || len(wrong) == 0) {
			t.Fatalf("the error is %#v", err)
		}
		for _, m := range wrong {
			if m.Line < 0 || m.Line > 1+strings.Count(string(data), "\n") {
				t.Fatalf("there is no line %d", m.Line)
			}
		}
	})
}
