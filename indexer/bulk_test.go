package indexer

import (
	"slices"
	"testing"

	"riskdex/elastic"
	"riskdex/report"
)

func TestItemAnswers(t *testing.T) {
	t.Parallel()
	batch := []prepared{
		{change: report.Change{Key: report.Key{ID: "a"}, Op: report.Index}},
		{change: report.Change{Key: report.Key{ID: "b"}, Op: report.Delete}},
	}
	for name, c := range map[string]struct {
		text string
		want []elastic.Answer // nil: the answer is ambiguous
	}{
		"both": {`{"items":[{"index":{"_id":"a","status":201}},{"delete":{"_id":"b","status":404}}]}`,
			[]elastic.Answer{{Level: elastic.LevelItem, Status: 201, Op: report.Index}, {Level: elastic.LevelItem, Status: 404, Op: report.Delete}}},
		"one refused": {`{"items":[{"index":{"_id":"a","status":400,"error":{"type":"x","reason":"y"}}},{"delete":{"_id":"b","status":200}}]}`,
			[]elastic.Answer{{Level: elastic.LevelItem, Status: 400, ErrorType: "x", Detail: "y", Op: report.Index}, {Level: elastic.LevelItem, Status: 200, Op: report.Delete}}},
		"too few":         {`{"items":[{"index":{"_id":"a","status":201}}]}`, nil},
		"too many":        {`{"items":[{"index":{"_id":"a","status":201}},{"delete":{"_id":"b","status":200}},{"delete":{"_id":"b","status":200}}]}`, nil},
		"another order":   {`{"items":[{"delete":{"_id":"b","status":200}},{"index":{"_id":"a","status":201}}]}`, nil},
		"another id":      {`{"items":[{"index":{"_id":"c","status":201}},{"delete":{"_id":"b","status":200}}]}`, nil},
		"another action":  {`{"items":[{"index":{"_id":"a","status":201}},{"index":{"_id":"b","status":200}}]}`, nil},
		"nothing":         {`{}`, nil},
		"half":            {`{"items":[{"index":{"_id":"a","sta`, nil},
		"something else":  {`[1,2]`, nil},
		"an item of null": {`{"items":[null,null]}`, nil},
	} {
		got, err := itemAnswers([]byte(c.text), batch)
		if (err == nil) != (c.want != nil) || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
}
