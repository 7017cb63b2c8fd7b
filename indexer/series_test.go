package indexer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"riskdex/indexer"
	"riskdex/internal/testkit/indexertest"
	"riskdex/journal"
	"riskdex/report"
)

// balky is a journal whose claims fail while it is told so.
type balky struct {
	journal.Journal
	refuses atomic.Bool
}

func (b *balky) Claim(ctx context.Context, kind report.Kind, maxChanges, maxBytes int) ([]report.Change, error) {
	if b.refuses.Load() {
		return nil, errors.New("a test has it refuse")
	}
	return b.Journal.Claim(ctx, kind, maxChanges, maxBytes)
}

// TestEveryFailureIsCountedWhereItWasAtZero makes Elasticsearch and the journal fail in
// every way for which the metrics have a reason. When the rig stops, it checks that no
// series appeared and that the sums agree.
func TestEveryFailureIsCountedWhereItWasAtZero(t *testing.T) {
	t.Parallel()
	// refusals is an answer that refuses every change of a bulk by itself.
	refusals := func(status int, errorType, detail string) indexertest.Fault {
		return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
			body, err := io.ReadAll(req.Body)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			lines := strings.Split(strings.TrimSpace(string(body)), "\n")
			var items []string
			for i := 0; i < len(lines); i += 2 { // what to do, and the document
				_, id, _ := strings.Cut(lines[i], `"_id":"`)
				id, _, _ = strings.Cut(id, `"`)
				items = append(items, fmt.Sprintf(`{"index":{"_index":%q,"_id":%q,"status":%d,"error":{"type":%q,"reason":%q}}}`, strings.TrimSuffix(req.URL.Path[1:], "/_bulk"), id, status, errorType, detail))
			}
			w.Header().Set("X-Elastic-Product", "Elasticsearch")
			indexertest.AnswerWith(http.StatusOK, `{"took":1,"errors":true,"items":[`+strings.Join(items, ",")+`]}`)(w, req, next)
		}
	}
	whole := func(status int) indexertest.Fault { return indexertest.AnswerWith(status, `{}`) }
	ways := map[string]indexertest.Fault{
		"unreachable":      func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) },
		"overloaded":       whole(http.StatusTooManyRequests),
		"unavailable":      whole(http.StatusServiceUnavailable),
		"unauthorized":     whole(http.StatusUnauthorized),
		"request_refused":  whole(http.StatusMethodNotAllowed),
		"index_blocked":    refusals(http.StatusForbidden, "cluster_block_exception", "blocked"),
		"index_missing":    refusals(http.StatusNotFound, "index_not_found_exception", "no such index"),
		"index_closed":     refusals(http.StatusBadRequest, "index_closed_exception", "closed"),
		"pipeline_missing": refusals(http.StatusBadRequest, "illegal_argument_exception", "pipeline with id [x] does not exist"),
		"field_limit":      refusals(http.StatusBadRequest, "illegal_argument_exception", "Limit of total fields [1000] has been exceeded"),
		"unknown":          refusals(http.StatusTeapot, "teapot_exception", "short and stout"),
		"document_refused": refusals(http.StatusBadRequest, "document_parsing_exception", "no"),
		"too_large":        whole(http.StatusRequestEntityTooLarge),
		"answer_unclear":   altered(`"result":"\w+"`, `"result":"noop"`),
		"journal":          nil,
	}
	var r *rig
	ways["version_out_of_reach"] = func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		r.Ask("PUT", r.Path("version_out_of_reach", indexertest.External(9_000_000_000_000_000_000)), `{}`)
		next.ServeHTTP(w, req)
	}
	starts := 0
	ways["elasticsearch_died"] = func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if indexertest.IsBulk(req) {
			panic(http.ErrAbortHandler)
		}
		starts++
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		indexertest.AnswerWith(http.StatusOK, fmt.Sprintf(`{"_nodes":{"total":1,"failed":0},"nodes":{"a":{"jvm":{"start_time_in_millis":%d}}}}`, starts))(w, req, next)
	}
	j := &balky{}
	r = assembleOf(t, indexertest.Quick(), indexertest.Parts{Journal: func(real journal.Journal) indexer.Journal {
		j.Journal = real
		return j
	}})
	r.Run()
	r.Drained()
	for reason, way := range ways {
		count := func() float64 {
			n, there := r.Scraped().Sum("riskdex_failures_total", `kind="cities"`, fmt.Sprintf("reason=%q", reason))
			if !there {
				t.Fatalf("nothing counts failures with the reason %s", reason)
			}
			return n
		}
		before := count()
		j.refuses.Store(way == nil)
		if way != nil {
			r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
				if indexertest.IsBulk(req) || strings.HasPrefix(req.URL.Path, "/_nodes") {
					way(w, req, next)
					return
				}
				next.ServeHTTP(w, req)
			})
		}
		// Each comes with a value that fits no field.
		r.Append(indexertest.Index(report.Cities, reason, `{"title":true,"risk_level":9}`))
		r.Eventually(reason+" is counted", func() bool { return count() > before })
		j.refuses.Store(false)
		r.Heal()
		r.Drained()
	}
	all := r.Scraped()
	for series := range all {
		// TestIndexIsLeftToItsJournal and TestEnsureTellsAWrongAlias cover two reasons.
		if strings.HasPrefix(series, `riskdex_failures_total{kind="cities"`) && !strings.Contains(series, "another_journal") && !strings.Contains(series, "alias_wrong") && all[series] == 0 {
			t.Errorf("this test has nothing fail for %s", series)
		}
	}
	if n, _ := all.Sum("riskdex_fields_left_out_total", `kind="cities"`, `field="title"`); n == 0 {
		t.Error("no title was left out")
	}
}
