package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/require"
)

// exported returns a folder with the built-in mapping files.
func exported(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mappings")
	var out bytes.Buffer
	if status := run(t.Context(), []string{"mappings", "export", dir}, streams{&out, &out}); status != exitDone {
		t.Fatalf("export: status %d, %s", status, &out)
	}
	return dir
}

func replaceIn(t *testing.T, file, old, changed string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %s", file, old)
	}
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), old, changed, 1)), 0o600))
}

func TestMappingsCheck(t *testing.T) {
	fine, wrong := exported(t), exported(t)
	replaceIn(t, filepath.Join(wrong, "cities.json"), `"fields"`, `"feilds"`)
	replaceIn(t, filepath.Join(wrong, "advisories.json"), `"roots"`, `"about": "", "roots"`)
	replaceIn(t, filepath.Join(wrong, "special-reports.json"), `"/code"`, `"code"`)
	replaceIn(t, filepath.Join(wrong, "search.json"), `{`, `{,`)
	require.NoError(t, os.Remove(filepath.Join(wrong, "index.json")))
	record := filepath.Join(t.TempDir(), "record.json")
	require.NoError(t, os.WriteFile(record, []byte(`{"id":1,"name":"Oslo \u001b[31m","country":"Nowhere","body":"`+strings.Repeat("long ", 50)+`"}`), 0o600))
	for name, c := range map[string]struct {
		args   []string
		status int
		says   []string
	}{
		"built in": {nil, exitDone, []string{"no mistakes"}},
		"fine":     {[]string{fine}, exitDone, []string{"no mistakes"}},
		"file":     {[]string{filepath.Join(fine, "cities.json")}, exitDone, []string{"no mistakes"}},
		"mistakes": {[]string{wrong}, exitNegative, []string{
			"cities.json:4: \"feilds\"", "advisories.json:3: \"about\" occurs twice", "special-reports.json:7: /fields/code/0", "search.json:1: this is not JSON", "index.json: it is missing: `riskdex mappings export FOLDER`",
		}},
		"mistakes in a file": {[]string{filepath.Join(wrong, "cities.json"), filepath.Join(fine, "index.json")}, exitNegative, []string{"cities.json:4:"}},
		"mistakes as JSON":   {[]string{"--json", wrong}, exitNegative, []string{`"line":4,"reason":"\"feilds\" is not a known name`}},
		"nothing there":      {[]string{filepath.Join(fine, "no")}, exitFailed, []string{"no such file"}},
		"another file":       {[]string{record}, exitFailed, []string{"record.json is not a mapping file", "cities.json"}},
		"record": {[]string{"--record", record, "--kind", "cities"}, exitDone, []string{
			"_id    \"1\"", "/id", "a POST is for the document 1; so is a PUT, unless its path is another known id", "riskdex_id_mismatches_total", "title  \"Oslo", "/name", "left out", "country  \"Nowhere\"", "/country", "two or three letters", "text", "…  (the record)",
		}},
		"record as JSON":    {[]string{"--record", record, "--kind", "cities", "--json"}, exitDone, []string{`{"field":"country","fits":false,"pointer":"/country"`}},
		"record and file":   {[]string{filepath.Join(fine, "cities.json"), "--record", record, "--kind", "cities"}, exitDone, []string{"title"}},
		"advisory":          {[]string{"--record", record, "--kind", "advisories"}, exitDone, []string{"a PUT is for the one in its path: if that is another one, it is counted"}},
		"record, other ids": {[]string{"--record", record, "--kind", "cities", "--ids", "cities=/number,/name"}, exitDone, []string{"_id", "/name", "for the document Oslo"}},
		"record, no id":     {[]string{"--record", record, "--kind", "cities", "--ids", "cities=/number"}, exitDone, []string{"states no id: a POST of it is refused"}},
		"record, wrong ids": {[]string{"--record", record, "--kind", "cities", "--ids", "cities=number"}, exitFailed, []string{"JSON pointer"}},
		"record, no kind":   {[]string{"--record", record}, exitFailed, []string{"--kind"}},
		"kind, no record":   {[]string{"--kind", "cities"}, exitFailed, []string{"--record"}},
		"record, two":       {[]string{fine, wrong, "--record", record, "--kind", "cities"}, exitFailed, []string{"one mapping"}},
		"no such record":    {[]string{"--record", record + "x", "--kind", "cities"}, exitFailed, []string{"read the record"}},
		"record is no JSON": {[]string{"--record", "mappings_test.go", "--kind", "cities"}, exitFailed, []string{"mappings_test.go: ", "invalid character"}},
	} {
		var out bytes.Buffer
		status := run(t.Context(), append([]string{"mappings", "check"}, c.args...), streams{&out, &out})
		if status != c.status {
			t.Errorf("%s: status %d, want %d", name, status, c.status)
		}
		for _, says := range c.says {
			if !strings.Contains(out.String(), says) {
				t.Errorf("%s: the output %q lacks %q", name, out.String(), says)
			}
		}
		if strings.Contains(out.String(), "\x1b") {
			t.Errorf("%s: a control character of the record is printed", name)
		}
		if strings.Contains(name, "JSON") && c.status != exitFailed {
			for line := range strings.Lines(out.String()) {
				if !json.Valid([]byte(line)) {
					t.Errorf("%s: %q is not JSON", name, line)
				}
			}
		}
	}
}

func TestMappingsExport(t *testing.T) {
	dir := exported(t)
	replaceIn(t, filepath.Join(dir, "cities.json"), `"about"`, ` "about"`) // the file is writable
	for name, target := range map[string]string{"not empty": dir, "a file": filepath.Join(dir, "cities.json")} {
		var out bytes.Buffer
		if status := run(t.Context(), []string{"mappings", "export", target}, streams{&out, &out}); status != exitFailed {
			t.Errorf("%s: status %d, output %s", name, status, &out)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "cities.json")); err != nil || !strings.Contains(string(text), ` "about"`) {
		t.Error("the files of the operator were overwritten")
	}
}
