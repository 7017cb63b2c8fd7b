package indexer

import (
	"testing"

	"riskdex/report"
)

func TestClassify(t *testing.T) {
	for name, c := range map[string]struct {
		answer answer
		want   verdict
		reason string
	}{
		"indexed":                  {answer{item, 200, "", "", report.Index}, settled, ""},
		"created":                  {answer{item, 201, "", "", report.Index}, settled, ""},
		"delete of nothing":        {answer{item, 404, "", "", report.Delete}, settled, ""},
		"version conflict":         {answer{item, 409, "version_conflict_engine_exception", "current version [3] is higher", report.Index}, superseded, ""},
		"another conflict":         {answer{item, 409, "resource_already_exists_exception", "", report.Index}, retry, reasonUnknown},
		"conflict of a request":    {answer{request, 409, "version_conflict_engine_exception", "", ""}, hold, reasonRequest},
		"rejected":                 {answer{item, 429, "es_rejected_execution_exception", "", report.Index}, retry, reasonOverloaded},
		"circuit breaker":          {answer{request, 429, "circuit_breaking_exception", "", ""}, retry, reasonOverloaded},
		"429 of a proxy":           {answer{request, 429, "", "", ""}, retry, reasonOverloaded},
		"shard away":               {answer{item, 503, "unavailable_shards_exception", "", report.Index}, retry, reasonUnavailable},
		"internal":                 {answer{item, 500, "null_pointer_exception", "", report.Index}, retry, reasonUnavailable},
		"bad gateway":              {answer{request, 502, "", "", ""}, retry, reasonUnavailable},
		"unavailable":              {answer{request, 503, "", "", ""}, retry, reasonUnavailable},
		"gateway time-out":         {answer{request, 504, "", "", ""}, retry, reasonUnavailable},
		"no answer":                {answer{transport, 0, "", "connection refused", ""}, retry, reasonUnreachable},
		"flood stage 429":          {answer{item, 429, "cluster_block_exception", "disk usage exceeded flood-stage watermark", report.Index}, hold, reasonBlocked},
		"write block 403":          {answer{item, 403, "cluster_block_exception", "index write", report.Index}, hold, reasonBlocked},
		"missing index":            {answer{item, 404, "index_not_found_exception", "no such index", report.Index}, hold, reasonMissing},
		"missing index, whole":     {answer{request, 404, "index_not_found_exception", "no such index", ""}, hold, reasonMissing},
		"closed index":             {answer{item, 400, "index_closed_exception", "closed", report.Index}, hold, reasonClosed},
		"no write index":           {answer{item, 400, "illegal_argument_exception", "no write index is defined for alias [cities]", report.Index}, hold, reasonNoWriteIndex},
		"too many fields":          {answer{item, 400, "document_parsing_exception", "Limit of total fields [1000] has been exceeded", report.Index}, hold, reasonFieldLimit},
		"missing pipeline":         {answer{item, 400, "illegal_argument_exception", "pipeline with id [not-there] does not exist", report.Index}, hold, reasonPipeline},
		"not allowed":              {answer{item, 403, "security_exception", "", report.Index}, hold, reasonUnauthorized},
		"wrong password":           {answer{request, 401, "security_exception", "", ""}, hold, reasonUnauthorized},
		"401 of a proxy":           {answer{request, 401, "", "", ""}, hold, reasonUnauthorized},
		"not an Elasticsearch":     {answer{request, 404, "", "", ""}, hold, reasonRequest},
		"redirected":               {answer{request, 302, "", "", ""}, hold, reasonRequest},
		"parsing":                  {answer{item, 400, "document_parsing_exception", "failed to parse field", report.Index}, dead, reasonDocument},
		"mapper parsing":           {answer{item, 400, "mapper_parsing_exception", "", report.Index}, dead, reasonDocument},
		"strict mapping":           {answer{item, 400, "strict_dynamic_mapping_exception", "", report.Index}, dead, reasonDocument},
		"immense term":             {answer{item, 400, "illegal_argument_exception", "immense term", report.Index}, dead, reasonDocument},
		"one spoils the bulk":      {answer{request, 400, "action_request_validation_exception", "", ""}, bisect, reasonRequest},
		"bulk too large":           {answer{request, 413, "", "", ""}, bisect, reasonTooLarge},
		"what nobody has seen yet": {answer{item, 418, "teapot_exception", "", report.Index}, retry, reasonUnknown},
		"refused without a reason": {answer{item, 400, "", "", report.Index}, retry, reasonUnknown},
		"too large, of one":        {answer{item, 413, "", "", report.Index}, retry, reasonUnknown},
		"item of a proxy":          {answer{item, 302, "", "", report.Delete}, retry, reasonUnknown},
	} {
		got := classify(c.answer)
		if got.verdict != c.want || got.reason != c.reason {
			t.Errorf("%s: %v %q, want %v %q", name, got.verdict, got.reason, c.want, c.reason)
		}
	}
}

// TestOnlyASuccessSettles: whatever the status of an item, and whatever it was to do,
// there are four answers that say that it was done.
func TestOnlyASuccessSettles(t *testing.T) {
	type done struct {
		op     report.Op
		status int
	}
	want := map[done]bool{{report.Index, 200}: true, {report.Index, 201}: true, {report.Delete, 200}: true, {report.Delete, 404}: true}
	for _, l := range []level{item, request, transport} {
		for _, op := range []report.Op{report.Index, report.Delete, ""} {
			for status := range 600 {
				for _, errorType := range []string{"", "some_exception"} {
					got := classify(answer{level: l, status: status, errorType: errorType, op: op})
					if wanted := l == item && errorType == "" && want[done{op, status}]; got.taken() != wanted {
						t.Errorf("level %d, %s, status %d, error %q: %v", l, op, status, errorType, got.verdict)
					}
					if got.verdict == dead && (l != item || status != 400 || errorType == "") {
						t.Errorf("level %d, %s, status %d, error %q: dead", l, op, status, errorType)
					}
				}
			}
		}
	}
}
