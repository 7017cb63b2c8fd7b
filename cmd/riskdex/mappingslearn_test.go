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

// TestMappingsLearn: the proposal for a feed of unknown shape passes the check, and says
// what is not certain.
func TestMappingsLearn(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	certain := write("cities.json", `{"data":[{"CityReportId":1,"CityName":{"en":"London\u001b[31m","fr":"Londres"},"pays":"GB","riskRating":7},{"CityReportId":2,"CityName":{"en":"Paris"},"pays":"FR","riskRating":0}]}`)
	doubt := write("feed.json", `[{"documentId":"a","reportId":"b","titre":"Grève"}]`)
	hidden := write("special_reports.json", `{"feed":{"list":[{"reportId":1,"title":"x"},{"reportId":2,"title":"y"}]}}`)
	to := filepath.Join(dir, "taught")
	for _, c := range []struct {
		name   string
		args   []string
		status int
		says   []string
	}{
		{"certain", []string{certain, "--to", to}, exitDone, []string{"id ", "/CityReportId", "title ", "/CityName", `"Londres"`, "/pays", "a scale: ", "--ids cities=/CityReportId", "--mappings " + to}},
		{"again", []string{certain, "--to", to}, exitFailed, []string{"differs from the built-in file"}},
		{"JSON", []string{certain, "--json"}, exitDone, []string{`"id":"/CityReportId"`, `"pointer":"/pays"`, `"file":{`}},
		{"in doubt", []string{doubt, "--kind", "advisories"}, exitDone, []string{"id? ", "/documentId", "/reportId", "not certain", "--ids advisories=/"}},
		{"stated", []string{doubt, "--kind", "advisories", "--ids", "advisories=/reportId"}, exitDone, []string{"id ", "/reportId"}},
		{"list", []string{hidden}, exitDone, []string{"records of special-reports: 2", "--records special-reports=/feed/list"}},
		{"no kind", []string{doubt}, exitFailed, []string{"--kind"}},
		{"no records", []string{write("city.json", "[]")}, exitFailed, []string{"no records"}},
		{"no file", []string{doubt + "x", "--kind", "cities"}, exitFailed, []string{"read the feed"}},
		{"no JSON", []string{write("x.json", "{"), "--kind", "cities"}, exitFailed, []string{"x.json"}},
	} {
		var out bytes.Buffer
		if status := run(t.Context(), append([]string{"mappings", "learn"}, c.args...), streams{&out, &out}); status != c.status {
			t.Errorf("%s: status %d, output %s", c.name, status, &out)
		}
		for _, says := range c.says {
			if !strings.Contains(out.String(), says) {
				t.Errorf("%s: the output %q lacks %q", c.name, out.String(), says)
			}
		}
		if strings.Contains(out.String(), "\x1b") || c.name == "JSON" && !json.Valid(out.Bytes()) {
			t.Errorf("%s: printed %q", c.name, out.String())
		}
	}
	record := write("record.json", `{"CityReportId":1,"CityName":{"en":"London"},"position":[51.5,0.1],"population":9}`)
	for _, args := range [][]string{{to}, {to, "--record", record, "--kind", "cities"}, {to, "--record", record, "--kind", "cities", "--json"}} {
		var out bytes.Buffer
		if status := run(t.Context(), append([]string{"mappings", "check"}, args...), streams{&out, &out}); status != exitDone {
			t.Errorf("the proposal does not pass: %s", &out)
		}
		for _, says := range []string{"/CityReportId", "/pays", "/population", "not clear which of the two numbers"} {
			if len(args) > 1 && !strings.Contains(out.String(), says) {
				t.Errorf("the output %q lacks %q", out.String(), says)
			}
		}
	}
}
