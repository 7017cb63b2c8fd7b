package indexer_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/report"
)

func isBulk(req *http.Request) bool { return strings.HasSuffix(req.URL.Path, "/_bulk") }

// everyThird lets f have two of three bulks.
func mostBulks(f fault) fault {
	var n atomic.Int64
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if isBulk(req) && n.Add(1)%3 != 0 {
			f(w, req, next)
			return
		}
		next.ServeHTTP(w, req)
	}
}

func answerWith(status int, body string) fault {
	return func(w http.ResponseWriter, req *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, req.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// applied lets the real server do the work and then spoils its answer.
func applied(spoil func(w http.ResponseWriter, answer []byte)) fault {
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		rec := httptest.NewRecorder()
		req.Header.Del("Accept-Encoding") // what is spoilt must be readable
		next.ServeHTTP(rec, req)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		spoil(w, rec.Body.Bytes())
	}
}

// refuseIf gives f the requests whose body is bad, and the server the others.
func refuseIf(bad func(body []byte) bool, f fault) fault {
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
	faults := map[string]fault{
		"429":                       answerWith(429, `{"error":{"type":"es_rejected_execution_exception","reason":"full"},"status":429}`),
		"502 of a proxy":            answerWith(502, `<html>bad gateway</html>`),
		"503":                       answerWith(503, `{"error":{"type":"cluster_manager_not_discovered","reason":"x"},"status":503}`),
		"504 of a proxy":            answerWith(504, ``),
		"404 of something else":     answerWith(404, `not here`),
		"not JSON":                  answerWith(200, `<html>welcome</html>`),
		"another JSON":              answerWith(200, `{"ok":true}`),
		"cut before it was applied": func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) },
		"cut after it was applied":  applied(func(http.ResponseWriter, []byte) { panic(http.ErrAbortHandler) }),
		"half an answer":            applied(func(w http.ResponseWriter, answer []byte) { _, _ = w.Write(answer[:len(answer)/2]) }),
		"503 after it was applied": applied(func(w http.ResponseWriter, _ []byte) {
			w.WriteHeader(503)
		}),
		"one item too few": applied(func(w http.ResponseWriter, answer []byte) {
			first := bytes.IndexByte(answer, '[') + 1
			end := bytes.Index(answer[first:], []byte(`}},`))
			if end > 0 {
				answer = append(answer[:first:first], answer[first+end+3:]...)
			} else {
				answer = []byte(`{"items":[]}`)
			}
			_, _ = w.Write(answer)
		}),
		"items in another order": applied(func(w http.ResponseWriter, answer []byte) {
			_, _ = w.Write(bytes.ReplaceAll(answer, []byte(`"_id":"1`), []byte(`"_id":"2`)))
		}),
	}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			cfg := quick()
			cfg.BulkChanges = 20
			r := start(t, cfg)
			r.fail(mostBulks(f))
			r.append(many(report.Cities, 100, "old")...)
			for i, c := range many(report.Cities, 100, "new") {
				if i%2 == 0 {
					r.append(c)
				} else {
					r.append(remove(report.Cities, string(c.ID)))
				}
			}
			r.drained()
			if n := r.count(report.Cities); n != 50 {
				t.Errorf("%d documents, want 50", n)
			}
			for _, id := range []string{"0", "48", "98"} {
				if d := r.document(report.Cities, id); d["text"] != "new" {
					t.Errorf("%s: %v", id, d)
				}
			}
			if k := r.stats().Kinds[report.Cities]; k.DeadLetters != 0 {
				t.Errorf("%d dead letters", k.DeadLetters)
			}
			if r.metric("riskdex_retries_total") == 0 {
				t.Error("no retry was counted: the fault did not bite")
			}
		})
	}
}

func TestTooLargeABulkIsHalved(t *testing.T) {
	r := assemble(t, quick())
	const limit = 200_000 // more than a limit can plausibly be
	r.fail(refuseIf(func(body []byte) bool { return len(body) > limit }, answerWith(413, `<html>too large</html>`)))
	r.append(many(report.Cities, 99, strings.Repeat("x", 10_000))...)
	r.append(index(report.Cities, "giant", `{"text":"`+strings.Repeat("x", 2*limit)+`"}`))
	r.run()
	r.drained()
	r.cities(99, 1) // only the giant is dead
}

func TestOnePoisonSpoilsNoOther(t *testing.T) {
	// The real server refuses a whole bulk for what the receiver does not accept;
	// here a proxy stands for a rule that nobody has thought of.
	r := assemble(t, quick())
	r.fail(refuseIf(func(body []byte) bool { return bytes.Contains(body, []byte("venom")) },
		answerWith(400, `{"error":{"type":"illegal_argument_exception","reason":"no"},"status":400}`)))
	changes := many(report.Cities, 1000, "text")
	changes[137].Body = []byte(`{"text":"venom"}`)
	r.append(changes...)
	r.run()
	r.drained()
	r.cities(999, 1)
}

// TestOneDocumentThatSpoilsEveryRequestHoldsUpNoOther: a document that something
// on the way takes offence at spoils every bulk that it is in, in ways that say
// nothing about documents.
func TestOneDocumentThatSpoilsEveryRequestHoldsUpNoOther(t *testing.T) {
	for name, f := range map[string]fault{
		"cut":               func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) },
		"502 of a proxy":    answerWith(502, `<html>bad gateway</html>`),
		"403 of a firewall": answerWith(403, `<html>request blocked</html>`),
	} {
		t.Run(name, func(t *testing.T) {
			r := assemble(t, quick())
			var spoilt atomic.Int64 // bulks that were spoilt for others
			r.fail(refuseIf(func(body []byte) bool {
				bad := bytes.Contains(body, []byte("venom"))
				if bad && bytes.Count(body, []byte(`"version_type"`)) > 1 {
					spoilt.Add(1)
				}
				return bad
			}, f))
			changes := many(report.Cities, 400, "text")
			changes[0].Body, changes[257].Body = []byte(`{"text":"venom"}`), []byte(`{"text":"venom"}`)
			r.append(changes...)
			r.run()
			r.eventually("all others are settled", func() bool { return r.stats().Kinds[report.Cities].Pending == 2 })
			spoilt.Store(0) // from now on it is known who does it
			for wave := range 20 {
				r.append(many(report.Cities, 400, "newer")[300+wave:]...)
				r.eventually("newer ones are settled too", func() bool { return r.stats().Kinds[report.Cities].Pending == 2 })
			}
			if n := spoilt.Load(); n > 0 {
				t.Errorf("%d bulks were spoilt by documents that were known to do so", n)
			}
			if k := r.stats().Kinds[report.Cities]; k.DeadLetters != 0 {
				t.Errorf("%d dead letters: nothing said that a document is to blame", k.DeadLetters)
			}
			r.heal()
			r.drained()
			if n := r.count(report.Cities); n != 400 {
				t.Errorf("%d documents, want 400", n)
			}
		})
	}
}

func TestNothingIsDeadWhenEveryRequestIsRefused(t *testing.T) {
	r := assemble(t, quick())
	r.fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if isBulk(req) {
			answerWith(400, `{"error":{"type":"illegal_argument_exception","reason":"unrecognized parameter"},"status":400}`)(w, req, next)
			return
		}
		next.ServeHTTP(w, req)
	})
	r.append(many(report.Cities, 20, "text")...)
	r.run()
	r.eventually("several attempts", func() bool { return r.metric("riskdex_retries_total", "reason", "request_refused") > 60 })
	if k := r.stats().Kinds[report.Cities]; k.DeadLetters != 0 || k.Pending != 20 {
		t.Errorf("%d dead letters, %d pending", k.DeadLetters, k.Pending)
	}
	r.heal()
	r.drained()
}

// TestTooLargeForEverythingBlamesNobody: a proxy answers 413 to whatever is sent, to
// documents of 50 bytes and to deletes.
func TestTooLargeForEverythingBlamesNobody(t *testing.T) {
	r := start(t, quick())
	r.append(many(report.Cities, 10, "before")...)
	r.drained()
	r.fail(refuseIf(func(body []byte) bool { return bytes.Contains(body, []byte(`"version_type"`)) }, answerWith(413, `<html>too large</html>`)))
	r.append(many(report.Cities, 20, "text")...)
	r.append(index(report.Cities, "large", `{"text":"`+strings.Repeat("x", 100_000)+`"}`), remove(report.Cities, "3"))
	r.eventually("several attempts", func() bool { return r.metric("riskdex_retries_total", "reason", "too_large") > 200 })
	if k := r.stats().Kinds[report.Cities]; k.DeadLetters != 0 || k.Pending != 21 {
		t.Errorf("%d dead letters, %d pending", k.DeadLetters, k.Pending)
	}
	r.heal()
	r.drained()
	r.cities(20, 0)
}

// TestRefusalsThatComeAndGoBlameNobody: every request is refused for a moment, again and
// again, wherever in a task that begins and ends.
func TestRefusalsThatComeAndGoBlameNobody(t *testing.T) {
	for _, status := range []int{400, 413} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			r := start(t, quick())
			var left atomic.Int64 // bulks until it changes
			var refuses atomic.Bool
			r.fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
				if !isBulk(req) {
					next.ServeHTTP(w, req)
					return
				}
				if left.Add(-1) <= 0 {
					refuses.Store(!refuses.Load())
					left.Store(5 + rand.Int64N(40))
				}
				if refuses.Load() {
					answerWith(status, `<html>no</html>`)(w, req, next)
					return
				}
				next.ServeHTTP(w, req)
			})
			for wave := range 10 {
				r.append(many(report.Cities, 300, strings.Repeat("x", 70_000*(wave%2)+wave))...)
				r.drained()
			}
			r.cities(300, 0)
		})
	}
}

// TestFailuresBlameNoDocument: while a refused bulk is sent in halves, some of them
// fail in another way. That is no sign that the others were read.
func TestFailuresBlameNoDocument(t *testing.T) {
	r := assemble(t, quick())
	var n atomic.Int64
	r.fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		switch {
		case !isBulk(req):
			next.ServeHTTP(w, req)
		case n.Add(1)%4 == 0:
			answerWith(503, `<html>unavailable</html>`)(w, req, next)
		default:
			answerWith(400, `<html>bad request</html>`)(w, req, next)
		}
	})
	r.append(many(report.Cities, 50, "text")...)
	r.run()
	r.eventually("several attempts", func() bool { return r.metric("riskdex_failures_total", "kind", "cities") > 60 })
	r.heal()
	r.drained()
	r.cities(50, 0) // nothing is dead where nothing was read
}

// TestPoisonThatCameAloneIsDeadInTheEnd: while it is alone nothing tells it from a
// fault in every request. It waits, and is judged as soon as it meets others.
func TestPoisonThatCameAloneIsDeadInTheEnd(t *testing.T) {
	r := start(t, quick())
	r.fail(refuseIf(func(body []byte) bool { return bytes.Contains(body, []byte("venom")) },
		answerWith(400, `{"error":{"type":"illegal_argument_exception","reason":"no"},"status":400}`)))
	r.append(index(report.Cities, "poison", `{"text":"venom"}`))
	r.eventually("it is known for what it does", func() bool { return r.metric("riskdex_retries_total", "reason", "request_refused") > 12 })
	if k := r.stats().Kinds[report.Cities]; k.DeadLetters != 0 {
		t.Error("dead without any sign that it is to blame")
	}
	for wave := 0; r.stats().Kinds[report.Cities].DeadLetters == 0; wave++ {
		if wave == 200 {
			t.Fatal("200 waves of others were taken, and it is tried still")
		}
		r.append(many(report.Cities, 20, fmt.Sprint("wave ", wave))...)
		r.eventually("the others are settled", func() bool { return r.stats().Kinds[report.Cities].Pending <= 1 })
	}
	r.drained()
	r.cities(20, 1)
}

func TestHeldIndexHealsAndHoldsUpNobody(t *testing.T) {
	for name, c := range map[string]struct {
		reason     string
		hurt, heal func(r *rig, index string)
	}{
		"closed index": {"index_closed",
			func(r *rig, index string) { r.change("POST", "/"+index+"/_close", "") },
			func(r *rig, index string) { r.change("POST", "/"+index+"/_open?wait_for_active_shards=1", "") }},
		"write block": {"index_blocked",
			func(r *rig, index string) { r.change("PUT", "/"+index+"/_block/write", "") },
			func(r *rig, index string) {
				r.change("PUT", "/"+index+"/_settings", `{"index.blocks.write":null}`)
			}},
		"read-only, as at the flood stage": {"index_blocked",
			func(r *rig, index string) {
				r.change("PUT", "/"+index+"/_settings", `{"index.blocks.read_only_allow_delete":true}`)
			},
			func(r *rig, index string) {
				r.change("PUT", "/"+index+"/_settings", `{"index.blocks.read_only_allow_delete":null}`)
			}},
		"pipeline that is not there": {"pipeline_missing",
			func(r *rig, index string) {
				r.change("PUT", "/"+index+"/_settings", `{"index.default_pipeline":"not-there"}`)
			},
			func(r *rig, index string) {
				r.change("PUT", "/"+index+"/_settings", `{"index.default_pipeline":null}`)
			}},
		"no write index": {"no_write_index",
			func(r *rig, index string) {
				r.change("PUT", "/"+strings.TrimSuffix(index, "1")+"2", "")
				r.change("POST", "/_aliases", `{"actions":[
					{"add":{"index":"`+index+`","alias":"`+r.indices.Alias(report.Cities)+`","is_write_index":false}},
					{"add":{"index":"`+strings.TrimSuffix(index, "1")+`2","alias":"`+r.indices.Alias(report.Cities)+`","is_write_index":false}}]}`)
			},
			func(r *rig, index string) {
				r.change("POST", "/_aliases", `{"actions":[
					{"add":{"index":"`+index+`","alias":"`+r.indices.Alias(report.Cities)+`","is_write_index":true}},
					{"remove_index":{"index":"`+strings.TrimSuffix(index, "1")+`2"}}]}`)
			}},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, quick())
			r.append(index(report.Cities, "1", `{"title":"before"}`), index(report.Cities, "2", `{"title":"before"}`))
			r.drained()
			alias := r.indices.Alias(report.Cities)
			c.hurt(r, r.indices.Index(report.Cities, 1))
			r.append(index(report.Cities, "1", `{"title":"after"}`), remove(report.Cities, "2"))
			r.append(many(report.Advisories, 50, "text")...)
			r.eventually("the index is held", func() bool { return r.metric("riskdex_held", "index", alias, "reason", c.reason) == 1 })
			r.drained(report.Advisories, report.SpecialReports)
			if k := r.stats().Kinds[report.Cities]; k.Pending == 0 || k.DeadLetters != 0 {
				t.Errorf("while held: %d pending, %d dead letters", k.Pending, k.DeadLetters)
			}
			c.heal(r, r.indices.Index(report.Cities, 1))
			r.drained()
			if d := r.document(report.Cities, "1"); d["title"] != "after" {
				t.Errorf("%v", d)
			}
			if d := r.document(report.Cities, "2"); d != nil {
				t.Errorf("deleted, yet %v", d)
			}
			r.eventually("it is no longer shown as held", func() bool { return r.metric("riskdex_held") == 0 })
		})
	}
}

func TestIndexThatHangsHoldsUpNobody(t *testing.T) {
	cfg := quick()
	cfg.BulkChanges = 1 // so that one kind could keep every worker busy
	r := start(t, cfg)
	r.append(many(report.Cities, 1, "text")...)
	r.drained() // a lane that has not seen its index yet has but one task
	release, hanging := make(chan struct{}), make(chan struct{}, 100)
	cities := "/" + r.indices.Alias(report.Cities) + "/_bulk"
	r.fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.URL.Path == cities {
			hanging <- struct{}{}
			<-release
		}
		next.ServeHTTP(w, req)
	})
	r.append(many(report.Cities, 20, "text")...)
	<-hanging
	<-hanging // as many tasks as one kind may have
	r.append(many(report.Advisories, 20, "text")...)
	r.drained(report.Advisories)
	if n := r.stats().Kinds[report.Cities].Pending; n != 20 {
		t.Errorf("%d cities pending, want 20: they were to hang", n)
	}
	close(release)
	r.drained()
}

// TestStopsThoughElasticsearchHangs: a server that never answers must not keep
// riskdex from stopping, and what it was asked is sent again later.
func TestStopsThoughElasticsearchHangs(t *testing.T) {
	cfg := quick()
	cfg.StopWithin = 100 * time.Millisecond
	r := assemble(t, cfg)
	asked := make(chan struct{}, 100)
	r.fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if isBulk(req) {
			// Only a server that has read the body notices that the client left.
			_, _ = io.Copy(io.Discard, req.Body)
			asked <- struct{}{}
			<-req.Context().Done()
			return
		}
		next.ServeHTTP(w, req)
	})
	r.append(many(report.Cities, 5, "text")...)
	r.run()
	<-asked
	stopping := time.Now()
	r.stop()
	if took := time.Since(stopping); took > 30*time.Second { // a request alone would take a minute to time out
		t.Errorf("stopping took %v", took)
	}
	if n := r.stats().Kinds[report.Cities].Pending; n != 5 {
		t.Errorf("%d pending, want 5", n)
	}
}
