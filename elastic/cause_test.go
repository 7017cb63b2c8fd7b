package elastic_test

import (
	"strings"
	"testing"

	"riskdex/elastic"
	"riskdex/report"
)

// TestTheInnermostReasonIsShown: what wraps a cause says which phase failed, or which shards.
func TestTheInnermostReasonIsShown(t *testing.T) {
	const refused = `{"type":"exception","reason":"[fuzzy] queries cannot be executed when 'search.allow_expensive_queries' is set to false."}`
	for name, c := range map[string]struct{ body, errorType, reason, index string }{
		"plain":  {`{"error":{"root_cause":[{"type":"a","reason":"r"}],"type":"a","reason":"r","index":"i"}}`, "a", "r", "i"},
		"string": {`{"error":"no handler found"}`, "", "no handler found", ""},
		"shards": {`{"error":{"root_cause":[{"type":"query_shard_exception","reason":"failed to create query"}],"type":"search_phase_execution_exception",
			"reason":"all shards failed","failed_shards":[{"shard":0,"index":"x","reason":{"type":"query_shard_exception","reason":"failed to create query","index":"x",
			"caused_by":` + refused + `}}]},"status":500}`, "exception", "allow_expensive_queries", "x"},
		"causes": {`{"error":{"type":"illegal_argument_exception","reason":"template is invalid","caused_by":{"type":"b","reason":"composition",
			"caused_by":{"type":"c","reason":"Limit of total fields [9] has been exceeded"}}}}`, "c", "Limit of total fields [9]", ""},
		"root cause only": {`{"error":{"root_cause":[` + refused + `],"type":"search_phase_execution_exception","reason":"all shards failed"}}`, "exception", "allow_expensive_queries", ""},
		"an empty cause":  {`{"error":{"type":"a","reason":"r","caused_by":{}}}`, "a", "r", ""},
	} {
		got := elastic.NewResponseError(500, []byte(c.body))
		if got.Type != c.errorType || !strings.Contains(got.Reason, c.reason) || strings.Contains(got.Error(), "all shards failed") || got.Index != c.index {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestAnItemShowsItsInnermostReason: that of an item comes after what names the field.
func TestAnItemShowsItsInnermostReason(t *testing.T) {
	const item = `{"items":[{"index":{"_index":"x","_id":"1","status":400,"error":{"type":"document_parsing_exception","reason":"failed to parse field [d]",
		"caused_by":{"type":"illegal_argument_exception","reason":"failed to parse date","caused_by":{"type":"e","reason":"REASON"}}}}}]}`
	for inner, want := range map[string]elastic.Verdict{"in no form": elastic.Dead, "Limit of total fields [9] has been exceeded": elastic.Pause} {
		answers, err := elastic.ReadBulk([]byte(strings.ReplaceAll(item, "REASON", inner)), "x", []elastic.Sent{{Op: report.Index, ID: "1", Version: 1}})
		if err != nil {
			t.Fatal(err)
		}
		verdict, _ := elastic.Classify(answers[0])
		if a := answers[0]; verdict != want || a.ErrorType != "document_parsing_exception" || a.Detail != "failed to parse field [d]: "+inner {
			t.Errorf("%v: %+v", verdict, a)
		}
	}
}
