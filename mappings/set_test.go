package mappings

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/go-json-experiment/json/jsontext"
)

// builtinFiles returns a copy of the built-in files, to be changed.
func builtinFiles(t *testing.T) fstest.MapFS {
	t.Helper()
	files := make(fstest.MapFS)
	names, err := fs.Glob(builtin, "*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(builtin, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	return files
}

// TestLoadSaysWhatIsWrong: an operator's mistake is reported with its file, and its line if
// it has one.
func TestLoadSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ file, old, new, want string }{
		{"cities.json", `"fields"`, `"feilds"`, "cities.json: line 4:"},
		{"cities.json", `"code": [`, `"cod": [`, "cities.json: line 5:"},
		{"cities.json", `"/code"`, `"code"`, "cities.json: line 5:"},
		{"cities.json", `"/code"`, `"/co~de"`, "cities.json: line 5:"},
		{"cities.json", `"/code"`, `7`, "cities.json: line 5:"},
		{"cities.json", `"split"`, `"spilt"`, "cities.json: line"},
		{"cities.json", `"places": {`, `"places": {,`, "cities.json: line"},
		{"cities.json", `"places": {`, `"roots": [], "places": {`, "cities.json: line"},
		{"cities.json", `"places": {`, `"without": ["summary"], "places": {`, `"summary" is not expected`},
		{"advisories.json", `["", "/attributes", "/advisory", "/data", "/data/attributes", "/data/advisory"]`, `[]`, `"roots" is empty`},
		{"advisories.json", `"low": 1`, `"low": 0`, "1 to 5"},
		{"advisories.json", `"low": 1`, `"Low": 1`, "lower case"},
		{"index.json", `"dynamic"`, `"_meta": {}, "dynamic"`, "_meta"},
		{"index.json", `"settings"`, `"setings"`, "index.json: line 3:"},
		{"threats.json", `"unrest": {`, `"Unrest": {`, "small letters"},
		{"threats.json", `"shelling, artillery`, `"shelling, , artillery`, "a word is missing"},
		{"threats.json", `"shelling, artillery`, `"shelling => artillery => gun`, "one =>"},
		{"threats.json", `"shelling, artillery`, `"out of bounds, artillery`, `leave out "of"`},
		{"threats.json", `"tornado, twister`, `"tornado, twister#`, "no #"},
		{"threats.json", `"threats"`, `"threts"`, "threats.json: line 3:"},
		{"search.json", `{{words}}`, `words`, "{{words}}"},
		{"search.json", `"highlight": {`, `"highlight": {{`, "search.json: line"},
	} {
		files := builtinFiles(t)
		text := strings.ReplaceAll(string(files[c.file].Data), c.old, c.new)
		if text == string(files[c.file].Data) {
			t.Errorf("%s has no %s", c.file, c.old)
		}
		files[c.file] = &fstest.MapFile{Data: []byte(text)}
		if _, err := Load(files); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.file) {
			t.Errorf("%s with %s: got %v, want %s", c.file, c.new, err, c.want)
		}
	}
	for name := range builtinFiles(t) {
		files := builtinFiles(t)
		delete(files, name)
		if _, err := Load(files); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s Load returned %v", name, err)
		}
	}
}

func TestPattern(t *testing.T) {
	var x tree
	if err := x.parse([]byte(`{"a/b":{"~":[{"riskLevel":1},{"RISK-level":2},[3]]},"*":4,"":5}`)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pattern jsontext.Pointer
		want    string
	}{
		{"/a~1b/~0/*/risk_level", "1 2"},
		{"/a~1b/~0/*/*", "3"},
		{"/a~1b/*", ""},
		{"/*", ""},
		{"/", "5"},
		{"/missing/x", ""},
	} {
		p, err := parsePattern(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, at := range x.find(nil, 0, p.steps) {
			got = append(got, string(x.raw(at)))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s finds %v, want %s", c.pattern, got, c.want)
		}
	}
}
