package elastic_test

import (
	"slices"
	"testing"

	"riskdex/elastic"
	"riskdex/report"
)

// TestReadBulk: the items of an answer are those of the bulk, one to one, or nothing is certain. What
// single items have to say is in TestAnAnswerThatDoesNotSaySoSettlesNothing.
func TestReadBulk(t *testing.T) {
	t.Parallel()
	sent := []elastic.Sent{{Op: report.Index, ID: "a", Version: 5}, {Op: report.Delete, ID: "b", Version: 6}}
	const where = `"_index":"cities-v1","_shards":{"total":2,"successful":1,"failed":0},`
	const a, b = `{"index":{` + where + `"_id":"a","_version":5,"result":"created","status":201}}`,
		`{"delete":{` + where + `"_id":"b","_version":6,"result":"not_found","status":404}}`
	for name, c := range map[string]struct {
		text string
		want []elastic.Verdict // nil: the answer is ambiguous
	}{
		"both":            {`{"items":[` + a + `,` + b + `]}`, []elastic.Verdict{elastic.Settled, elastic.Settled}},
		"one refused":     {`{"items":[{"index":{"_index":"cities-v1","_id":"a","status":400,"error":{"type":"x","reason":"y"}}},` + b + `]}`, []elastic.Verdict{elastic.Dead, elastic.Settled}},
		"one says less":   {`{"items":[{"index":{"_id":"a","status":201}},` + b + `]}`, []elastic.Verdict{elastic.Retry, elastic.Settled}},
		"too few":         {`{"items":[` + a + `]}`, nil},
		"too many":        {`{"items":[` + a + `,` + b + `,` + b + `]}`, nil},
		"another order":   {`{"items":[` + b + `,` + a + `]}`, nil},
		"another action":  {`{"items":[` + a + `,{"index":{"_id":"b","status":200}}]}`, nil},
		"nothing":         {`{}`, nil},
		"half":            {`{"items":[{"index":{"_id":"a","sta`, nil},
		"something else":  {`[1,2]`, nil},
		"an item of null": {`{"items":[null,null]}`, nil},
	} {
		answers, err := elastic.ReadBulk([]byte(c.text), "cities-v1", sent)
		var got []elastic.Verdict
		for _, answer := range answers {
			verdict, _ := elastic.Classify(answer)
			got = append(got, verdict)
		}
		if (err == nil) != (c.want != nil) || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
}
