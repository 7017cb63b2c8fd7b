package indexer_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/testkit/indexertest"
	"riskdex/report"
)

// mostBulks applies f to two of three bulks.
func mostBulks(f indexertest.Fault) indexertest.Fault {
	var n atomic.Int64
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if indexertest.IsBulk(req) && n.Add(1)%3 != 0 {
			f(w, req, next)
			return
		}
		next.ServeHTTP(w, req)
	}
}

// refuseIf answers requests whose body is bad with f, and passes the others to the
// server.
func refuseIf(bad func(body []byte) bool, f indexertest.Fault) indexertest.Fault {
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		if bad(body) {
			f(w, req, next)
			return
		}
		next.ServeHTTP(w, req)
	}
}

func TestPassingFaultsLoseNothing(t *testing.T) {
	t.Parallel()
	faults := map[string]indexertest.Fault{
		"429":                       indexertest.AnswerWith(429, `{"error":{"type":"es_rejected_execution_exception","reason":"full"},"status":429}`),
		"502 of a proxy":            indexertest.AnswerWith(502, `<html>bad gateway</html>`),
		"503":                       indexertest.AnswerWith(503, `{"error":{"type":"cluster_manager_not_discovered","reason":"x"},"status":503}`),
		"504 of a proxy":            indexertest.AnswerWith(504, ``),
		"404 of something else":     indexertest.AnswerWith(404, `not here`),
		"not JSON":                  indexertest.AnswerWith(200, `<html>welcome</html>`),
		"another JSON":              indexertest.AnswerWith(200, `{"ok":true}`),
		"cut before it was applied": func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) },
		"cut after it was applied":  indexertest.Applied(func(http.ResponseWriter, []byte) { panic(http.ErrAbortHandler) }),
		"half an answer":            indexertest.Applied(func(w http.ResponseWriter, answer []byte) { _, _ = w.Write(answer[:len(answer)/2]) }),
		"503 after it was applied": indexertest.Applied(func(w http.ResponseWriter, _ []byte) {
			w.WriteHeader(503)
		}),
		"one item too few": indexertest.Applied(func(w http.ResponseWriter, answer []byte) {
			first := bytes.IndexByte(answer, '[') + 1
			end := bytes.Index(answer[first:], []byte(`}},`))
			if end > 0 {
				answer = append(answer[:first:first], answer[first+end+3:]...)
			} else {
				answer = []byte(`{"items":[]}`)
			}
			_, _ = w.Write(answer)
		}),
		"items in another order": indexertest.Applied(func(w http.ResponseWriter, answer []byte) {
			_, _ = w.Write(bytes.ReplaceAll(answer, []byte(`"_id":"1`), []byte(`"_id":"2`)))
		}),
	}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			cfg := indexertest.Quick()
			cfg.BulkChanges = 20
			r := start(t, cfg)
			r.Fail(mostBulks(f))
			r.Append(indexertest.Many(report.Cities, 100, "old")...)
			for i, c := range indexertest.Many(report.Cities, 100, "new") {
				if i%2 == 0 {
					r.Append(c)
				} else {
					r.Append(indexertest.Delete(report.Cities, string(c.ID)))
				}
			}
			r.Drained()
			if n := r.Count(report.Cities); n != 50 {
				t.Errorf("%d documents, want 50", n)
			}
			for _, id := range []string{"0", "48", "98"} {
				if d := r.Document(report.Cities, id); d["text"] != "new" {
					t.Errorf("document %s is %v, want the new text", id, d)
				}
			}
			if k := r.Stats().Kinds[report.Cities]; k.DeadLetters != 0 {
				t.Errorf("%d dead letters", k.DeadLetters)
			}
			if r.Metric("riskdex_retries_total") == 0 {
				t.Error("no retry was counted: the fault did not bite")
			}
		})
	}
}

func TestTooLargeABulkIsHalved(t *testing.T) {
	t.Parallel()
	r := assemble(t, indexertest.Quick())
	const limit = 200_000 // more than any plausible limit
	r.Fail(refuseIf(func(body []byte) bool { return len(body) > limit }, indexertest.AnswerWith(413, `<html>too large</html>`)))
	r.Append(indexertest.Many(report.Cities, 99, strings.Repeat("x", 10_000))...)
	r.Append(indexertest.Index(report.Cities, "giant", `{"text":"`+strings.Repeat("x", 2*limit)+`"}`))
	r.Run()
	r.Drained()
	r.WantCities(99, 1) // only the giant is dead
}

func TestOnePoisonSpoilsNoOther(t *testing.T) {
	t.Parallel()
	// The real server refuses a whole bulk only for something that the receiver does not
	// accept. Here a proxy refuses one for a reason that nobody expects.
	r := assemble(t, indexertest.Quick())
	r.Fail(refuseIf(func(body []byte) bool { return bytes.Contains(body, []byte("venom")) },
		indexertest.AnswerWith(400, `{"error":{"type":"illegal_argument_exception","reason":"no"},"status":400}`)))
	changes := indexertest.Many(report.Cities, 1000, "text")
	changes[137].Body = []byte(`{"text":"venom"}`)
	r.Append(changes...)
	r.Run()
	r.Drained()
	r.WantCities(999, 1)
}

// TestOneDocumentThatSpoilsEveryRequestHoldsUpNoOther: every bulk with a document that a
// proxy objects to fails, with answers that do not name the document.
func TestOneDocumentThatSpoilsEveryRequestHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]indexertest.Fault{
		"cut":               func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) },
		"502 of a proxy":    indexertest.AnswerWith(502, `<html>bad gateway</html>`),
		"403 of a firewall": indexertest.AnswerWith(403, `<html>request blocked</html>`),
	} {
		t.Run(name, func(t *testing.T) {
			r := assemble(t, indexertest.Quick())
			var spoilt atomic.Int64 // bulks that failed because of it
			r.Fail(refuseIf(func(body []byte) bool {
				bad := bytes.Contains(body, []byte("venom"))
				if bad && bytes.Count(body, []byte(`"version_type"`)) > 1 {
					spoilt.Add(1)
				}
				return bad
			}, f))
			changes := indexertest.Many(report.Cities, 400, "text")
			changes[0].Body, changes[257].Body = []byte(`{"text":"venom"}`), []byte(`{"text":"venom"}`)
			r.Append(changes...)
			r.Run()
			r.Eventually("all others are settled", func() bool { return r.Stats().Kinds[report.Cities].Pending == 2 })
			spoilt.Store(0) // from now on the culprit is known
			for wave := range 20 {
				r.Append(indexertest.Many(report.Cities, 400, "newer")[300+wave:]...)
				r.Eventually("newer ones are settled too", func() bool { return r.Stats().Kinds[report.Cities].Pending == 2 })
			}
			if n := spoilt.Load(); n > 0 {
				t.Errorf("%d bulks were spoilt by documents that were known to do so", n)
			}
			if k := r.Stats().Kinds[report.Cities]; k.DeadLetters != 0 {
				t.Errorf("%d dead letters: nothing said that a document is to blame", k.DeadLetters)
			}
			r.Heal()
			r.Drained()
			if n := r.Count(report.Cities); n != 400 {
				t.Errorf("%d documents, want 400", n)
			}
		})
	}
}

func TestNothingIsDeadWhenEveryRequestIsRefused(t *testing.T) {
	t.Parallel()
	r := assemble(t, indexertest.Quick())
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if indexertest.IsBulk(req) {
			indexertest.AnswerWith(400, `{"error":{"type":"illegal_argument_exception","reason":"unrecognized parameter"},"status":400}`)(w, req, next)
			return
		}
		next.ServeHTTP(w, req)
	})
	r.Append(indexertest.Many(report.Cities, 20, "text")...)
	r.Run()
	r.Eventually("several attempts", func() bool { return r.Metric("riskdex_retries_total", "reason", "request_refused") > 60 })
	if k := r.Stats().Kinds[report.Cities]; k.DeadLetters != 0 || k.Pending != 20 {
		t.Errorf("%d dead letters, %d pending", k.DeadLetters, k.Pending)
	}
	r.Heal()
	r.Drained()
}

// TestTooLargeForEverythingBlamesNobody: a proxy answers 413 to everything, even to
// documents of 50 bytes and to deletes.
func TestTooLargeForEverythingBlamesNobody(t *testing.T) {
	t.Parallel()
	r := start(t, indexertest.Quick())
	r.Append(indexertest.Many(report.Cities, 10, "before")...)
	r.Drained()
	r.Fail(refuseIf(func(body []byte) bool { return bytes.Contains(body, []byte(`"version_type"`)) }, indexertest.AnswerWith(413, `<html>too large</html>`)))
	r.Append(indexertest.Many(report.Cities, 20, "text")...)
	r.Append(indexertest.Index(report.Cities, "large", `{"text":"`+strings.Repeat("x", 100_000)+`"}`), indexertest.Delete(report.Cities, "3"))
	r.Eventually("several attempts", func() bool { return r.Metric("riskdex_retries_total", "reason", "too_large") > 200 })
	if k := r.Stats().Kinds[report.Cities]; k.DeadLetters != 0 || k.Pending != 21 {
		t.Errorf("%d dead letters, %d pending", k.DeadLetters, k.Pending)
	}
	r.Heal()
	r.Drained()
	r.WantCities(20, 0)
}

// TestRefusalsThatComeAndGoBlameNobody: every request is refused for a moment,
// repeatedly, at any point of a task.
func TestRefusalsThatComeAndGoBlameNobody(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 413} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			r := start(t, indexertest.Quick())
			var left atomic.Int64 // bulks until the refusals begin or end
			var refuses atomic.Bool
			r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
				if !indexertest.IsBulk(req) {
					next.ServeHTTP(w, req)
					return
				}
				if left.Add(-1) <= 0 {
					refuses.Store(!refuses.Load())
					left.Store(5 + rand.Int64N(40))
				}
				if refuses.Load() {
					indexertest.AnswerWith(status, `<html>no</html>`)(w, req, next)
					return
				}
				next.ServeHTTP(w, req)
			})
			for wave := range 10 {
				r.Append(indexertest.Many(report.Cities, 300, strings.Repeat("x", 70_000*(wave%2)+wave))...)
				r.Drained()
			}
			r.WantCities(300, 0)
		})
	}
}

// TestFailuresBlameNoDocument: while a refused bulk is sent in halves, some of them fail
// in another way. That does not show that the others were read.
func TestFailuresBlameNoDocument(t *testing.T) {
	t.Parallel()
	r := assemble(t, indexertest.Quick())
	var n atomic.Int64
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		switch {
		case !indexertest.IsBulk(req):
			next.ServeHTTP(w, req)
		case n.Add(1)%4 == 0:
			indexertest.AnswerWith(503, `<html>unavailable</html>`)(w, req, next)
		default:
			indexertest.AnswerWith(400, `<html>bad request</html>`)(w, req, next)
		}
	})
	r.Append(indexertest.Many(report.Cities, 50, "text")...)
	r.Run()
	r.Eventually("several attempts", func() bool { return r.Metric("riskdex_failures_total", "kind", "cities") > 60 })
	r.Heal()
	r.Drained()
	r.WantCities(50, 0) // nothing is dead where nothing was read
}

// TestPoisonThatCameAloneIsDeadInTheEnd: a lone poison document cannot be distinguished
// from a fault that affects every request. It waits, and is judged as soon as there are
// others.
func TestPoisonThatCameAloneIsDeadInTheEnd(t *testing.T) {
	t.Parallel()
	r := start(t, indexertest.Quick())
	r.Fail(refuseIf(func(body []byte) bool { return bytes.Contains(body, []byte("venom")) },
		indexertest.AnswerWith(400, `{"error":{"type":"illegal_argument_exception","reason":"no"},"status":400}`)))
	r.Append(indexertest.Index(report.Cities, "poison", `{"text":"venom"}`))
	r.Eventually("it is known for what it does", func() bool { return r.Metric("riskdex_retries_total", "reason", "request_refused") > 12 })
	if k := r.Stats().Kinds[report.Cities]; k.DeadLetters != 0 {
		t.Error("dead without any sign that it is to blame")
	}
	for wave := 0; r.Stats().Kinds[report.Cities].DeadLetters == 0; wave++ {
		if wave == 200 {
			t.Fatal("200 waves of others were indexed, and the document is still not a dead letter")
		}
		r.Append(indexertest.Many(report.Cities, 20, fmt.Sprint("wave ", wave))...)
		r.Eventually("the others are settled", func() bool { return r.Stats().Kinds[report.Cities].Pending <= 1 })
	}
	r.Drained()
	r.WantCities(20, 1)
}

func TestHeldIndexHealsAndHoldsUpNobody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason     string
		hurt, heal func(r *rig, index string)
	}{
		"closed index": {"index_closed",
			func(r *rig, index string) { r.Change("POST", "/"+index+"/_close", "") },
			func(r *rig, index string) {
				r.Change("POST", "/"+index+"/_open?wait_for_active_shards=1", "")
			}},
		"write block": {"index_blocked",
			func(r *rig, index string) { r.Change("PUT", "/"+index+"/_block/write", "") },
			func(r *rig, index string) {
				r.Change("PUT", "/"+index+"/_settings", `{"index.blocks.write":null}`)
			}},
		"read-only, as at the flood stage": {"index_blocked",
			func(r *rig, index string) {
				r.Change("PUT", "/"+index+"/_settings", `{"index.blocks.read_only_allow_delete":true}`)
			},
			func(r *rig, index string) {
				r.Change("PUT", "/"+index+"/_settings", `{"index.blocks.read_only_allow_delete":null}`)
			}},
		"pipeline that is not there": {"pipeline_missing",
			func(r *rig, index string) {
				r.Change("PUT", "/"+index+"/_settings", `{"index.default_pipeline":"not-there"}`)
			},
			func(r *rig, index string) {
				r.Change("PUT", "/"+index+"/_settings", `{"index.default_pipeline":null}`)
			}},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, indexertest.Quick())
			r.Append(indexertest.Index(report.Cities, "1", `{"title":"before"}`), indexertest.Index(report.Cities, "2", `{"title":"before"}`))
			r.Drained()
			alias := r.Indices.Alias(report.Cities)
			c.hurt(r, r.Indices.Index(report.Cities, 1))
			r.Append(indexertest.Index(report.Cities, "1", `{"title":"after"}`), indexertest.Delete(report.Cities, "2"))
			r.Append(indexertest.Many(report.Advisories, 50, "text")...)
			r.Eventually("the index is held", func() bool { return r.Metric("riskdex_held", "index", alias, "reason", c.reason) == 1 })
			r.Drained(report.Advisories, report.SpecialReports)
			if k := r.Stats().Kinds[report.Cities]; k.Pending == 0 || k.DeadLetters != 0 {
				t.Errorf("while held: %d pending, %d dead letters", k.Pending, k.DeadLetters)
			}
			c.heal(r, r.Indices.Index(report.Cities, 1))
			r.Drained()
			if d := r.Document(report.Cities, "1"); d["title"] != "after" {
				t.Errorf("the document is %v, want the title after", d)
			}
			if d := r.Document(report.Cities, "2"); d != nil {
				t.Errorf("deleted, yet %v", d)
			}
			r.Eventually("it is no longer shown as held", func() bool { return r.Metric("riskdex_held") == 0 })
		})
	}
}

func TestIndexThatHangsHoldsUpNobody(t *testing.T) {
	t.Parallel()
	cfg := indexertest.Quick()
	cfg.BulkChanges = 1 // so that one kind could occupy every worker
	r := start(t, cfg)
	r.Append(indexertest.Many(report.Cities, 1, "text")...)
	r.Drained() // a lane that has not checked its index yet has only one task
	release, hanging := make(chan struct{}), make(chan struct{}, 100)
	cities := "/" + r.Indices.Index(report.Cities, 1) + "/_bulk"
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.URL.Path == cities {
			hanging <- struct{}{}
			<-release
		}
		next.ServeHTTP(w, req)
	})
	r.Append(indexertest.Many(report.Cities, 20, "text")...)
	<-hanging
	<-hanging // as many tasks as one kind may have
	r.Append(indexertest.Many(report.Advisories, 20, "text")...)
	r.Drained(report.Advisories)
	if n := r.Stats().Kinds[report.Cities].Pending; n != 20 {
		t.Errorf("%d cities pending, want all 20: their index hangs", n)
	}
	close(release)
	r.Drained()
}

// TestStopsThoughElasticsearchHangs: a server that never answers must not keep riskdex
// from stopping. What it was sent is sent again later.
func TestStopsThoughElasticsearchHangs(t *testing.T) {
	t.Parallel()
	cfg := indexertest.Quick()
	cfg.StopWithin = 100 * time.Millisecond
	r := assemble(t, cfg)
	asked := make(chan struct{}, 100)
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if indexertest.IsBulk(req) {
			// A server notices that the client has left only once it has read the body.
			_, _ = io.Copy(io.Discard, req.Body)
			asked <- struct{}{}
			<-req.Context().Done()
			return
		}
		next.ServeHTTP(w, req)
	})
	r.Append(indexertest.Many(report.Cities, 5, "text")...)
	r.Run()
	<-asked
	stopping := time.Now()
	r.Stop()
	if took := time.Since(stopping); took > 30*time.Second { // a request alone would take a minute to time out
		t.Errorf("stopping took %v", took)
	}
	if n := r.Stats().Kinds[report.Cities].Pending; n != 5 {
		t.Errorf("%d pending, want 5", n)
	}
}
