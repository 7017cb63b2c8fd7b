package indexer_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/indexer/verify"
	"riskdex/report"
)

// reading lets f have two of three requests of each sort with which a
// verification reads.
func reading(f fault) fault {
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

// bites counts how often a fault did something.
type bites struct{ atomic.Int64 }

func (b *bites) of(f fault) fault {
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		b.Add(1)
		f(w, req, next)
	}
}

// altered has the real server's answer altered.
func (b *bites) altered(alter func(answer []byte) []byte) fault {
	spoilt := applied(func(w http.ResponseWriter, answer []byte) {
		after := alter(bytes.Clone(answer))
		if !bytes.Equal(after, answer) {
			b.Add(1)
		}
		_, _ = w.Write(after)
	})
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		req.Header.Del("Accept-Encoding") // or it could not be read
		spoilt(w, req, next)
	}
}

func (b *bites) replace(old, new string) fault {
	return b.altered(func(answer []byte) []byte { return bytes.ReplaceAll(answer, []byte(old), []byte(new)) })
}

// withoutFirst leaves out the first of a list of documents or hits.
func withoutFirst(answer []byte) []byte {
	from := bytes.Index(answer, []byte(`[{"_id"`))
	if from < 0 {
		return answer
	}
	to := bytes.Index(answer[from:], []byte(`},{"_id"`))
	if to < 0 {
		return answer
	}
	return append(answer[:from+1], answer[from+to+2:]...)
}

func TestVerifyIsNotMisledByFailures(t *testing.T) {
	r := start(t, quick())
	r.append(many(report.Cities, 30, "text")...)
	r.drained()
	r.stop()
	r.change("DELETE", r.doc("1", ""), "")
	r.change("PUT", r.doc("2", ""), `{}`)
	r.change("PUT", r.doc("unknown", ""), `{}`)
	abort := func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
	var met bites
	for name, f := range map[string]fault{
		"429":                          met.of(answerWith(429, `{"error":{"type":"es_rejected_execution_exception","reason":"full"},"status":429}`)),
		"503":                          met.of(answerWith(503, `{"error":{"type":"no_shard_available_action_exception","reason":"x"},"status":503}`)),
		"502 of a proxy":               met.of(answerWith(502, `<html>bad gateway</html>`)),
		"cut":                          met.of(abort),
		"not JSON":                     met.of(answerWith(200, `<html>welcome</html>`)),
		"another JSON":                 met.of(answerWith(200, `{"ok":true}`)),
		"half an answer":               met.altered(func(answer []byte) []byte { return answer[:len(answer)/2] }),
		"timed out":                    met.replace(`"timed_out":false`, `"timed_out":true`),
		"a shard failed":               met.replace(`"failed":0`, `"failed":1`),
		"a shard missing":              met.replace(`"successful":1`, `"successful":0`),
		"a document or a hit missing":  met.altered(withoutFirst),
		"no hits":                      met.replace(`"hits":[`, `"hints":[`),
		"hits without a total":         met.replace(`"total":{`, `"sum":{`),
		"a total that is a guess":      met.replace(`"relation":"eq"`, `"relation":"gte"`),
		"hits without a place":         met.replace(`"sort":`, `"order":`),
		"documents that say nothing":   met.replace(`"found":`, `"lost":`),
		"documents without a version":  met.replace(`"_version":`, `"_revision":`),
		"documents of other names":     met.replace(`{"docs":[{"_id":"`, `{"docs":[{"_id":"x`),
		"a document without its shard": met.replace(`"found":true`, `"error":{"type":"no_shard_available_action_exception","reason":"x"}`),
	} {
		t.Run(name, func(t *testing.T) {
			before := met.Load()
			r.fail(reading(f))
			got := r.verify(verify.Options{})
			want := map[string]report.Difference{"1": report.Missing, "2": report.Foreign, "unknown": report.Foreign}
			if !maps.Equal(problems(got.Findings), want) || got.Indexed != 30 {
				t.Errorf("%+v", got)
			}
			if n := met.Load() - before; n < 2 {
				t.Errorf("the fault bit %d times", n)
			}
		})
	}
	r.heal()
}

// TestVerifyNamesTheTrouble: where nothing can be said about documents, nothing
// is said.
func TestVerifyNamesTheTrouble(t *testing.T) {
	only := func(path string, f fault) fault {
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
		hurt         func(r *rig, index string)
	}{
		"missing": {"index_missing", "the index is missing", func(r *rig, index string) { r.change("DELETE", "/"+index, "") }},
		"closed":  {"index_closed", "open it", func(r *rig, index string) { r.change("POST", "/"+index+"/_close", "") }},
		"an alias of two": {"request_refused", "more than one index", func(r *rig, index string) {
			r.change("PUT", "/"+index+"0", `{"aliases":{"`+r.indices.Alias(report.Cities)+`":{}}}`)
		}},
		"away": {"unreachable", "no usable answer", func(r *rig, _ string) {
			r.fail(func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) })
		}},
		"overloaded": {"overloaded", "overloaded", func(r *rig, _ string) { r.fail(answerWith(429, ``)) }},
		"credentials": {"unauthorized", "credentials", func(r *rig, _ string) {
			r.fail(answerWith(401, `{"error":{"type":"security_exception","reason":"unable to authenticate"},"status":401}`))
		}},
		"privileges": {"unauthorized", "privileges", func(r *rig, _ string) {
			r.fail(only("/_pit", answerWith(403, `{"error":{"type":"security_exception","reason":"unauthorized"},"status":403}`)))
		}},
		"partial answers without end": {"unreachable", "lacks shards", func(r *rig, _ string) {
			r.fail(only("/_search", new(bites).replace(`"failed":0`, `"failed":1`)))
		}},
		"answers that are given up in time, without end": {"unreachable", "lacks shards", func(r *rig, _ string) {
			r.fail(only("/_search", new(bites).replace(`"timed_out":false`, `"timed_out":true`)))
		}},
		"a total that is a guess, without end": {"unreachable", "how many documents", func(r *rig, _ string) {
			r.fail(only("/_search", new(bites).replace(`"relation":"eq"`, `"relation":"gte"`)))
		}},
		"pages without end": {"unreachable", "0 documents instead of", func(r *rig, _ string) {
			r.fail(only("/_search", new(bites).replace(`"hits":[`, `"hints":[`)))
		}},
		"the index is replaced meanwhile": {"snapshot_gone", "replaced", func(r *rig, index string) {
			var once sync.Once
			r.fail(only("/_search", func(w http.ResponseWriter, req *http.Request, next http.Handler) {
				once.Do(func() { r.change("DELETE", "/"+index, "") })
				next.ServeHTTP(w, req)
			}))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, quick())
			r.append(many(report.Cities, 30, "text")...)
			r.drained()
			r.stop()
			c.hurt(r, r.indices.Index(report.Cities, 1))
			cfg := quickVerify()
			cfg.Patience = 200 * time.Millisecond
			got, err := r.verifier(cfg).Verify(t.Context(), report.Cities, verify.Options{Repair: true})
			trouble, ok := errors.AsType[*verify.Error](err)
			if !ok || trouble.Reason != c.reason || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), r.indices.Alias(report.Cities)) {
				t.Errorf("%v", err)
			}
			if got.Found() != 0 || got.Ordered != 0 {
				t.Errorf("yet %+v", got)
			}
			r.heal()
		})
	}
}

func TestVerifyEndsWithItsContext(t *testing.T) {
	r := start(t, quick())
	r.append(many(report.Cities, 30, "text")...)
	r.drained()
	r.stop()
	for _, sort := range []string{"/_mget", "/_search"} {
		ctx, cancel := context.WithCancel(t.Context())
		r.fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
			if strings.HasSuffix(req.URL.Path, sort) {
				cancel()
			}
			next.ServeHTTP(w, req)
		})
		if _, err := r.verifier(quickVerify()).Verify(ctx, report.Cities, verify.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled during %s: %v", sort, err)
		}
		cancel()
	}
	r.heal()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.change("DELETE", r.doc("1", ""), "")
	// Nothing mends it: the wait ends with the context and tells what was found.
	go func() {
		r.eventually("it is ordered", func() bool { return r.stats().Kinds[report.Cities].Resending == 1 })
		// It can be seen before it is durable, and is answered when it is: before what
		// comes after it.
		r.append(many(report.Advisories, 1, "text")...)
		cancel()
	}()
	got, err := r.verifier(quickVerify()).Verify(ctx, report.Cities, verify.Options{Repair: true})
	if !errors.Is(err, context.Canceled) || got.Missing != 1 || got.Ordered != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}
