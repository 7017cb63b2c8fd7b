package verify_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"riskdex/indexer/verify"
	"riskdex/internal/testkit/indexertest"
	"riskdex/report"
)

// reading applies f to two of three requests of each sort with which a verification
// reads.
func reading(f indexertest.Fault) indexertest.Fault {
	var mu sync.Mutex
	asked := map[string]int{}
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		sort := req.URL.Path[strings.LastIndexByte(req.URL.Path, '/'):]
		mu.Lock()
		asked[sort]++
		bite := sort != "/_bulk" && req.Method == http.MethodPost && asked[sort]%3 != 0
		mu.Unlock()
		if bite {
			f(w, req, next)
			return
		}
		next.ServeHTTP(w, req)
	}
}

// withoutFirst omits the first of a list of documents or hits.
func withoutFirst(answer []byte) []byte {
	return regexp.MustCompile(`\[\{("_index":"[^"]+",)?"_id"[^{}]*\},`).ReplaceAll(answer, []byte("["))
}

func TestVerifyIsNotMisledByFailures(t *testing.T) {
	r := indexertest.Start(t, indexertest.Quick())
	r.Append(indexertest.Many(report.Cities, 30, "text")...)
	r.Drained()
	r.Stop()
	r.Change("DELETE", r.Path("1", ""), "")
	r.Change("PUT", r.Path("2", ""), `{}`)
	r.Change("PUT", r.Path("unknown", ""), `{}`)
	abort := func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
	var met indexertest.Bites
	for name, f := range map[string]indexertest.Fault{
		"429":                          met.Of(indexertest.AnswerWith(429, `{"error":{"type":"es_rejected_execution_exception","reason":"full"},"status":429}`)),
		"503":                          met.Of(indexertest.AnswerWith(503, `{"error":{"type":"no_shard_available_action_exception","reason":"x"},"status":503}`)),
		"502 of a proxy":               met.Of(indexertest.AnswerWith(502, `<html>bad gateway</html>`)),
		"cut":                          met.Of(abort),
		"not JSON":                     met.Of(indexertest.AnswerWith(200, `<html>welcome</html>`)),
		"another JSON":                 met.Of(indexertest.AnswerWith(200, `{"ok":true}`)),
		"half an answer":               met.Altered(func(answer []byte) []byte { return answer[:len(answer)/2] }),
		"timed out":                    met.Replace(`"timed_out":false`, `"timed_out":true`),
		"a shard failed":               met.Replace(`"failed":0`, `"failed":1`),
		"a shard missing":              met.Replace(`"successful":1`, `"successful":0`),
		"a document or a hit missing":  met.Altered(withoutFirst),
		"no hits":                      met.Replace(`"hits":[`, `"hints":[`),
		"hits without a total":         met.Replace(`"total":{`, `"sum":{`),
		"a total that is a guess":      met.Replace(`"relation":"eq"`, `"relation":"gte"`),
		"hits without a place":         met.Replace(`"sort":`, `"order":`),
		"documents that say nothing":   met.Replace(`"found":`, `"lost":`),
		"documents without a version":  met.Replace(`"_version":`, `"_revision":`),
		"documents of other names":     met.Replace(`","_id":"`, `","_id":"x`),
		"a document without its shard": met.Replace(`"found":true`, `"error":{"type":"no_shard_available_action_exception","reason":"x"}`),
	} {
		t.Run(name, func(t *testing.T) {
			before := met.Load()
			r.Fail(reading(f))
			got := r.Verify(verify.Options{})
			want := map[string]report.Difference{"1": report.Missing, "2": report.Foreign, "unknown": report.Foreign}
			if !maps.Equal(problems(got.Findings), want) || got.Indexed != 30 {
				t.Errorf("found %+v, want only the planted damage", got)
			}
			if n := met.Load() - before; n < 2 {
				t.Errorf("the fault was applied %d times", n)
			}
		})
	}
	r.Heal()
}

// TestVerifyNamesTheTrouble: if nothing is known about documents, nothing is reported
// about them.
func TestVerifyNamesTheTrouble(t *testing.T) {
	only := func(path string, f indexertest.Fault) indexertest.Fault {
		return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
			if strings.HasSuffix(req.URL.Path, path) {
				f(w, req, next)
				return
			}
			next.ServeHTTP(w, req)
		}
	}
	for name, c := range map[string]struct {
		reason, says string
		hurt         func(r *indexertest.Rig, index string)
	}{
		"missing": {"index_missing", "the index is missing", func(r *indexertest.Rig, index string) { r.Change("DELETE", "/"+index, "") }},
		"closed":  {"index_closed", "open it", func(r *indexertest.Rig, index string) { r.Change("POST", "/"+index+"/_close", "") }},
		"an alias of two": {"alias_wrong", "put it right", func(r *indexertest.Rig, index string) {
			r.Change("PUT", "/"+index+"0", `{"aliases":{"`+r.Indices.Alias(report.Cities)+`":{}}}`)
		}},
		"away": {"unreachable", "no usable answer", func(r *indexertest.Rig, _ string) {
			r.Fail(func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) })
		}},
		"overloaded": {"overloaded", "overloaded", func(r *indexertest.Rig, _ string) { r.Fail(indexertest.AnswerWith(429, ``)) }},
		"credentials": {"unauthorized", "credentials", func(r *indexertest.Rig, _ string) {
			r.Fail(indexertest.AnswerWith(401, `{"error":{"type":"security_exception","reason":"unable to authenticate"},"status":401}`))
		}},
		"privileges": {"unauthorized", "privileges", func(r *indexertest.Rig, _ string) {
			r.Fail(only("/_pit", indexertest.AnswerWith(403, `{"error":{"type":"security_exception","reason":"unauthorized"},"status":403}`)))
		}},
		"partial answers without end": {"unavailable", "lacks shards", func(r *indexertest.Rig, _ string) {
			r.Fail(only("/_search", new(indexertest.Bites).Replace(`"failed":0`, `"failed":1`)))
		}},
		"answers that are given up in time, without end": {"unavailable", "lacks shards", func(r *indexertest.Rig, _ string) {
			r.Fail(only("/_search", new(indexertest.Bites).Replace(`"timed_out":false`, `"timed_out":true`)))
		}},
		"a total that is a guess, without end": {"answer_unclear", "how many documents", func(r *indexertest.Rig, _ string) {
			r.Fail(only("/_search", new(indexertest.Bites).Replace(`"relation":"eq"`, `"relation":"gte"`)))
		}},
		"pages without end": {"answer_unclear", "0 documents instead of", func(r *indexertest.Rig, _ string) {
			r.Fail(only("/_search", new(indexertest.Bites).Replace(`"hits":[`, `"hints":[`)))
		}},
		"the index is replaced meanwhile": {"snapshot_gone", "replaced", func(r *indexertest.Rig, index string) {
			var once sync.Once
			r.Fail(only("/_search", func(w http.ResponseWriter, req *http.Request, next http.Handler) {
				once.Do(func() { r.Change("DELETE", "/"+index, "") })
				next.ServeHTTP(w, req)
			}))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := indexertest.Start(t, indexertest.Quick())
			r.Append(indexertest.Many(report.Cities, 30, "text")...)
			r.Drained()
			r.Stop()
			c.hurt(r, r.Indices.Index(report.Cities, 1))
			cfg := indexertest.QuickVerify()
			cfg.RetryTimeout = 200 * time.Millisecond
			got, err := r.Verifier(cfg).Verify(t.Context(), report.Cities, verify.Options{Repair: true})
			trouble, ok := errors.AsType[*verify.Error](err)
			if !ok || trouble.Reason != c.reason || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), r.Indices.Alias(report.Cities)) {
				t.Errorf("error %v, want one with the reason and the alias", err)
			}
			if got.Found() != 0 || got.Ordered != 0 {
				t.Errorf("with an error there are findings: %+v", got)
			}
			r.Heal()
		})
	}
}

func TestVerifyEndsWithItsContext(t *testing.T) {
	r := indexertest.Start(t, indexertest.Quick())
	r.Append(indexertest.Many(report.Cities, 30, "text")...)
	r.Drained()
	r.Stop()
	for _, sort := range []string{"/_mget", "/_search"} {
		ctx, cancel := context.WithCancel(t.Context())
		r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
			if strings.HasSuffix(req.URL.Path, sort) {
				cancel()
			}
			next.ServeHTTP(w, req)
		})
		if _, err := r.Verifier(indexertest.QuickVerify()).Verify(ctx, report.Cities, verify.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled during %s: %v", sort, err)
		}
		cancel()
	}
	r.Heal()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.Change("DELETE", r.Path("1", ""), "")
	// Nothing repairs it: the wait ends with the context and reports what was found.
	go func() {
		r.Eventually("it is ordered", func() bool { return r.Stats().Kinds[report.Cities].Resending == 1 })
		// A change can be seen before it is durable, and is acknowledged once it is
		// durable, before any later change.
		r.Append(indexertest.Many(report.Advisories, 1, "text")...)
		cancel()
	}()
	got, err := r.Verifier(indexertest.QuickVerify()).Verify(ctx, report.Cities, verify.Options{Repair: true})
	if !errors.Is(err, context.Canceled) || got.Missing != 1 || got.Ordered != 1 {
		t.Errorf("found %+v with error %v, want one missing, ordered, and the context's error", got, err)
	}
}
