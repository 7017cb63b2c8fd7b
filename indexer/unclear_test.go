package indexer_test

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/elastic"
	"riskdex/internal/testkit/indexertest"
	"riskdex/report"
)

// altered alters the answers to bulks.
func altered(pattern, with string) indexertest.Fault {
	return indexertest.Applied(func(w http.ResponseWriter, answer []byte) {
		_, _ = w.Write(regexp.MustCompile(pattern).ReplaceAll(answer, []byte(with)))
	})
}

// TestAnAnswerThatDoesNotSaySoSettlesNothing: a write counts if its answer says what was done, to
// which document, and where. Anything else is sent again, and told.
func TestAnAnswerThatDoesNotSaySoSettlesNothing(t *testing.T) {
	t.Parallel()
	empty := func(w http.ResponseWriter, req *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, req.Body)
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		_, _ = w.Write([]byte(`{}`))
	}
	for name, f := range map[string]indexertest.Fault{
		"an empty object":    empty,
		"no result":          altered(`"result":"\w+",?`, ``),
		"nothing was done":   altered(`"result":"\w+"`, `"result":"noop"`),
		"it was only shown":  altered(`"result":"\w+"`, `"forced_refresh":true`),
		"another operation":  altered(`"result":"\w+"`, `"result":"deleted"`),
		"another index":      altered(`"_index":"[^"]+"`, `"_index":"cities-of-somebody-else"`),
		"no index":           altered(`"_index":"[^"]+",`, ``),
		"another version":    altered(`"_version":\d+`, `"_version":3`),
		"no shard took it":   altered(`"successful":1`, `"successful":0`),
		"shards failed":      altered(`"failed":0`, `"failed":1`),
		"no shards":          altered(`"_shards":\{[^}]*\},?`, ``),
		"a status of no use": altered(`"status":20[01]`, `"status":204`),
		"only a status":      altered(`"index":\{[^{}]*(\{[^{}]*\})?[^{}]*\}`, `"index":{"_id":"a","status":201}`),
		"a conflict without its status": altered(`"_version":.*"status":201`,
			`"status":200,"error":{"type":"version_conflict_engine_exception","reason":"[a]: version conflict"}`),
		"a refusal by another index": altered(`"_index":"[^"]+".*"status":201`,
			`"_index":"other","_id":"a","status":400,"error":{"type":"strict_dynamic_mapping_exception","reason":"no such field"}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, indexertest.Quick())
			r.Eventually("the index is there", func() bool { return r.Visible(report.Cities) == 0 })
			r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
				if indexertest.IsBulk(req) {
					f(w, req, next)
					return
				}
				next.ServeHTTP(w, req)
			})
			r.Append(indexertest.Index(report.Cities, "a", `{"title":"A"}`))
			r.Within(20*time.Second, "it is told", func() bool {
				if k := r.Stats().Kinds[report.Cities]; k.Pending != 1 || k.DeadLetters != 0 {
					t.Fatalf("the change does not wait: %+v", k)
				}
				return waitsFor(r, "answer_unclear")
			})
			if n := r.Metric("riskdex_held", "reason", "answer_unclear"); n != 1 {
				t.Errorf("%v indices are held for it", n)
			}
			r.Heal()
			r.Drained()
			r.WantCities(1, 0)
		})
	}
}

func waitsFor(r *rig, reason string) bool {
	return slices.ContainsFunc(r.Indexer.Waiting(), func(w report.Waiting) bool { return w.Reason == reason && w.Paused })
}

// TestAnEmptyAnswerIsNoMissingIndex: only an answer that says that there is no index makes riskdex
// create one and send everything again.
func TestAnEmptyAnswerIsNoMissingIndex(t *testing.T) {
	t.Parallel()
	r := start(t, indexertest.Quick())
	r.Append(indexertest.Many(report.Cities, 10, "text")...)
	r.Drained()
	var bites indexertest.Bites
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.Method == http.MethodGet && strings.Contains(req.URL.Path, "-v*") {
			bites.Add(1)
			w.Header().Set("X-Elastic-Product", "Elasticsearch")
			_, _ = w.Write([]byte(`{}`))
			return
		}
		next.ServeHTTP(w, req)
	})
	before := r.Metric("riskdex_failures_total", "kind", "cities")
	r.Eventually("the index is checked", func() bool {
		return bites.Load() > 10 && r.Metric("riskdex_failures_total", "kind", "cities") > before
	})
	if k := r.Stats().Kinds[report.Cities]; k.Resending > 0 {
		t.Errorf("%d documents are sent again", k.Resending)
	}
	r.Heal()
	r.Drained()
	r.WantCities(10, 0)
}

// TestAProxysSuccessIsNoAnswer: every success has to name Elasticsearch, not the first one alone.
func TestAProxysSuccessIsNoAnswer(t *testing.T) {
	t.Parallel()
	r := start(t, indexertest.Quick())
	r.Eventually("the index is there", func() bool { return r.Visible(report.Cities) == 0 })
	r.Fail(indexertest.AnswerWith(200, `{"acknowledged":true}`))
	if _, err := r.Indices.Client.Ask(t.Context(), elastic.Request{Method: "GET", Path: "/_cluster/health"}, elastic.Readable); err == nil {
		t.Error("a success without the name of Elasticsearch is taken")
	}
}
