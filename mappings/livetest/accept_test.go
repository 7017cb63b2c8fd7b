package livetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/mappings/indices"
	"riskdex/report"
	"riskdex/search"
)

// TestEveryShapeIsAccepted: Elasticsearch accepts the document of every published shape,
// and of records made to be refused, and none of them spoils a search.
func TestEveryShapeIsAccepted(t *testing.T) {
	var records []record
	files, err := filepath.Glob("../testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range report.Kinds() {
			if strings.HasPrefix(filepath.Base(file), string(kind)) && !strings.HasSuffix(file, ".want.json") {
				records = append(records, record{kind: kind, id: filepath.Base(file), body: string(body)})
			}
		}
	}
	long := strings.Repeat("x", 40_000)
	var manyFields strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&manyFields, `"field %d": {"is.%d": %d}, `, i, i, i)
	}
	for name, body := range map[string]string{
		"long words":             `{"title":"` + long + `","code":"` + long + `","country":"` + long + `","risk_level":"` + long + `","airports":["` + long + `"],"cities":[{"name":"` + long + `","code":"` + long + `"}],"summary":"` + long + `","aliases":"` + long + `"}`,
		"long words with spaces": `{"title":"` + strings.Repeat("word ", 20_000) + `"}`,
		"long text":              `{"title":"protest","body":"` + strings.Repeat("A protest is announced for Friday. ", 60_000) + `"}`,
		"one long word":          `{"body":"` + strings.Repeat("ж", 200_000) + `"}`,
		"5,000 fields":           `{` + manyFields.String() + `"title": "protest"}`,
		"objects":                `{"title":{"a":{}},"risk_level":{"b":[1]},"location":{"lat":{},"lng":[]},"duration":[1],"airports":{"x":1},"country":[[["gb"]]],"cities":{"a":1},"summary":["x"],"code":{"c":1}}`,
		"scalars":                `{"title":true,"risk_level":false,"location":3,"duration":"long","airports":0,"country":1,"cities":"London","summary":1e3,"code":2,"geo":"x"}`,
		"900 levels":             strings.Repeat(`{"a":[`, 450) + `"protest"` + strings.Repeat(`]}`, 450),
		"999 levels":             strings.Repeat(`[`, 999) + strings.Repeat(`]`, 999),
		"dates":                  `{"starts_at":"2026-13-45","ends_at":"0000-00-00","published":"99999-01-01T00:00:00Z","updated":9e18,"duration":{"start_date":"-1","end_date":"+002026-01-01"},"title":"protest"}`,
		"last year":              `{"starts_at":"9999-12-31","ends_at":"9999-12-31","published":"0001-01-01","updated":"9999-12-31T23:59:59.999999999-14:00"}`,
		"places":                 `{"lat":999,"lng":"1e400","geo":{"lat":"NaN","lng":"Infinity"},"cities":[{"name":"x","lat":91,"lng":0},{"lat":90,"lng":-180}]}`,
		"poles":                  `{"geo":{"type":"Polygon","coordinates":[[[179,89.9],[-179,89.9],[-179,90],[179,90],[179,89.9]]]}}`,
		"numbers":                `{"a":1e99999,"b":` + strings.Repeat("9", 1000) + `,"c":-0.0,"title":"protest"}`,
		"names":                  `{"":1,".":2,"..":3,"a.b":4,"a":5,"A":6,"_id":7,"_source":{"x":1},"title":"protest"}`,
		"characters":             `{"title":"a\u0000b\ud83d\ude00\u2028c\u0085","body":"\u0000protest\n\r\t"}`,
		"half a pair":            `{"title":"protest \ud800","body":"\udc00 protest","\udfff":["\ud800"]}`,
		"null":                   `null`,
		"number":                 `1e999`,
		"string":                 `"protest"`,
		"empty array":            `[]`,
		"empty":                  `{}`,
	} {
		records = append(records, record{kind: report.Advisories, id: name, body: body})
	}
	records = append(records, record{kind: report.Cities, id: strings.Repeat("é", 256), code: strings.Repeat("C", 40_000), body: `{}`})

	x := newIndices(t, elastictest.Prefix(t))
	fill(t, x, records)
	body, err := x.Set.SearchBody("protest", search.Query{Size: 100})
	if err != nil {
		t.Fatal(err)
	}
	all := []string{x.Alias(report.Cities), x.Alias(report.Advisories), x.Alias(report.SpecialReports)}
	result, err := indices.Search(t.Context(), x.Client, all, body)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[report.ID]search.Hit)
	for _, hit := range result.Hits {
		found[hit.ID] = hit
	}
	for _, id := range []report.ID{"long text", "5,000 fields", "900 levels", "dates", "numbers", "names", "characters", "half a pair", "string"} {
		if len(found[id].Highlights) == 0 {
			t.Errorf("%q is not found, or without a highlight", id)
		}
	}
}
