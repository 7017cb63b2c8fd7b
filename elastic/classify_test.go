package elastic

import (
	"testing"

	"riskdex/report"
)

func TestClassify(t *testing.T) {
	for name, c := range map[string]struct {
		answer Answer
		want   Verdict
		reason string
	}{
		"indexed":                  {Answer{LevelItem, 200, "", "", report.Index}, Settled, ""},
		"created":                  {Answer{LevelItem, 201, "", "", report.Index}, Settled, ""},
		"delete of nothing":        {Answer{LevelItem, 404, "", "", report.Delete}, Settled, ""},
		"version conflict":         {Answer{LevelItem, 409, "version_conflict_engine_exception", "current version [3] is higher", report.Index}, Superseded, ""},
		"another conflict":         {Answer{LevelItem, 409, "resource_already_exists_exception", "", report.Index}, Retry, ReasonUnknown},
		"conflict of a request":    {Answer{LevelRequest, 409, "version_conflict_engine_exception", "", ""}, Pause, ReasonRequest},
		"rejected":                 {Answer{LevelItem, 429, "es_rejected_execution_exception", "", report.Index}, Retry, ReasonOverloaded},
		"circuit breaker":          {Answer{LevelRequest, 429, "circuit_breaking_exception", "", ""}, Retry, ReasonOverloaded},
		"429 of a proxy":           {Answer{LevelRequest, 429, "", "", ""}, Retry, ReasonOverloaded},
		"shard away":               {Answer{LevelItem, 503, "unavailable_shards_exception", "", report.Index}, Retry, ReasonUnavailable},
		"internal":                 {Answer{LevelItem, 500, "null_pointer_exception", "", report.Index}, Retry, ReasonUnavailable},
		"bad gateway":              {Answer{LevelRequest, 502, "", "", ""}, Retry, ReasonUnavailable},
		"unavailable":              {Answer{LevelRequest, 503, "", "", ""}, Retry, ReasonUnavailable},
		"gateway time-out":         {Answer{LevelRequest, 504, "", "", ""}, Retry, ReasonUnavailable},
		"no answer":                {Answer{LevelTransport, 0, "", "connection refused", ""}, Retry, ReasonUnreachable},
		"flood stage 429":          {Answer{LevelItem, 429, "cluster_block_exception", "disk usage exceeded flood-stage watermark", report.Index}, Pause, ReasonBlocked},
		"write block 403":          {Answer{LevelItem, 403, "cluster_block_exception", "index write", report.Index}, Pause, ReasonBlocked},
		"missing index":            {Answer{LevelItem, 404, "index_not_found_exception", "no such index", report.Index}, Pause, ReasonMissing},
		"missing index, whole":     {Answer{LevelRequest, 404, "index_not_found_exception", "no such index", ""}, Pause, ReasonMissing},
		"closed index":             {Answer{LevelItem, 400, "index_closed_exception", "closed", report.Index}, Pause, ReasonClosed},
		"too many fields":          {Answer{LevelItem, 400, "document_parsing_exception", "Limit of total fields [1000] has been exceeded", report.Index}, Pause, ReasonFieldLimit},
		"missing pipeline":         {Answer{LevelItem, 400, "illegal_argument_exception", "pipeline with id [not-there] does not exist", report.Index}, Pause, ReasonPipeline},
		"not allowed":              {Answer{LevelItem, 403, "security_exception", "", report.Index}, Pause, ReasonUnauthorized},
		"wrong password":           {Answer{LevelRequest, 401, "security_exception", "", ""}, Pause, ReasonUnauthorized},
		"401 of a proxy":           {Answer{LevelRequest, 401, "", "", ""}, Pause, ReasonUnauthorized},
		"not an Elasticsearch":     {Answer{LevelRequest, 404, "", "", ""}, Pause, ReasonRequest},
		"redirected":               {Answer{LevelRequest, 302, "", "", ""}, Pause, ReasonRequest},
		"parsing":                  {Answer{LevelItem, 400, "document_parsing_exception", "failed to parse field", report.Index}, Dead, ReasonDocument},
		"mapper parsing":           {Answer{LevelItem, 400, "mapper_parsing_exception", "", report.Index}, Dead, ReasonDocument},
		"strict mapping":           {Answer{LevelItem, 400, "strict_dynamic_mapping_exception", "", report.Index}, Dead, ReasonDocument},
		"immense term":             {Answer{LevelItem, 400, "illegal_argument_exception", "immense term", report.Index}, Dead, ReasonDocument},
		"one spoils the bulk":      {Answer{LevelRequest, 400, "action_request_validation_exception", "", ""}, Bisect, ReasonRequest},
		"bulk too large":           {Answer{LevelRequest, 413, "", "", ""}, Bisect, ReasonTooLarge},
		"what nobody has seen yet": {Answer{LevelItem, 418, "teapot_exception", "", report.Index}, Retry, ReasonUnknown},
		"refused without a reason": {Answer{LevelItem, 400, "", "", report.Index}, Retry, ReasonUnknown},
		"too large, of one":        {Answer{LevelItem, 413, "", "", report.Index}, Retry, ReasonUnknown},
		"item of a proxy":          {Answer{LevelItem, 302, "", "", report.Delete}, Retry, ReasonUnknown},
	} {
		if verdict, reason := Classify(c.answer); verdict != c.want || reason != c.reason {
			t.Errorf("%s: %v %q, want %v %q", name, verdict, reason, c.want, c.reason)
		}
	}
}

// TestOnlyASuccessSettles: whatever the status of an item and its operation, only four
// answers say that it was done.
func TestOnlyASuccessSettles(t *testing.T) {
	type done struct {
		op     report.Op
		status int
	}
	want := map[done]bool{{report.Index, 200}: true, {report.Index, 201}: true, {report.Delete, 200}: true, {report.Delete, 404}: true}
	for _, l := range []Level{LevelItem, LevelRequest, LevelTransport} {
		for _, op := range []report.Op{report.Index, report.Delete, ""} {
			for status := range 600 {
				for _, errorType := range []string{"", "some_exception"} {
					got, _ := Classify(Answer{Level: l, Status: status, ErrorType: errorType, Op: op})
					if wanted := l == LevelItem && errorType == "" && want[done{op, status}]; (got == Settled || got == Superseded) != wanted {
						t.Errorf("level %d, %s, status %d, error %q: %v", l, op, status, errorType, got)
					}
					if got == Dead && (l != LevelItem || status != 400 || errorType == "") {
						t.Errorf("level %d, %s, status %d, error %q: dead", l, op, status, errorType)
					}
				}
			}
		}
	}
}
