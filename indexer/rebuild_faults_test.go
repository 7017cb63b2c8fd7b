package indexer_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestBrokenNewIndexHarmsNobody: whatever happens to the new index, searches of the old
// one are not affected.
func TestBrokenNewIndexHarmsNobody(t *testing.T) {
	t.Parallel()
	for name, hurt := range map[string]func(r *rig, index string){
		"deleted": func(r *rig, index string) { r.Change("DELETE", "/"+index, "") },
		"closed":  func(r *rig, index string) { r.Change("POST", "/"+index+"/_close", "") },
		"blocked": func(r *rig, index string) { r.Change("PUT", "/"+index+"/_block/write", "") },
		"deleted, and made by somebody else": func(r *rig, index string) {
			r.Change("DELETE", "/"+index, "")
			r.Change("PUT", "/"+index, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := filledRig(t, rebuilding(), 200)
			g := r.half()
			hurt(r, r.Indices.Index(report.Cities, 2))
			r.Append(indexertest.Index(report.Cities, "1", `{"title":"live"}`), indexertest.Delete(report.Cities, "2"))
			close(g.open)
			r.reaches(report.PhaseFailed)
			if s := r.status(); s.Reason == "" {
				t.Error("no reason is given")
			}
			r.complete()
			if d := r.Document(report.Cities, "1"); d["title"] != "live" {
				t.Errorf("the document is %v, want the title live", d)
			}
			if searched := r.behind(); !searched[r.Indices.Index(report.Cities, 1)] {
				t.Errorf("apps do not search the old index; searched are %v", searched)
			}
		})
	}
}

// TestNewIndexThatIsOverloaded delays no live change, and is given up if the overload
// does not pass.
func TestNewIndexThatIsOverloaded(t *testing.T) {
	t.Parallel()
	full := indexertest.AnswerWith(429, `{"error":{"type":"es_rejected_execution_exception","reason":"full"},"status":429}`)
	r := filledRig(t, rebuilding(), 100)
	r.newIndexAnswers(full)
	r.rebuild()
	r.reaches(report.PhaseFilling)
	r.Append(indexertest.Index(report.Cities, "live", `{"title":"live"}`), indexertest.Delete(report.Cities, "1"))
	r.Eventually("apps see a live change", func() bool { return r.Document(report.Cities, "live") != nil })
	r.Eventually("apps see a live delete", func() bool { return r.Document(report.Cities, "1") == nil })
	r.Heal()
	r.reaches(report.PhaseDone)
	r.only(2)
	r.complete()
}

// createdSeven is the answer that says that the document 7 was made.
var createdSeven = regexp.MustCompile(`"_id":"7","_version":\d+,"result":"created","_shards":{[^}]*},"status":201`)

// refusesOne answers as if the new index never took the document 7, nor anything a second time, so
// that the rebuild does not end.
func refusesOne(w http.ResponseWriter, req *http.Request, next http.Handler) {
	req.Header.Del("Accept-Encoding") // so that the answer can be read here
	indexertest.Applied(func(w http.ResponseWriter, answer []byte) {
		full := []byte(`"_id":"7","status":429,"error":{"type":"es_rejected_execution_exception","reason":"full"}`)
		answer = createdSeven.ReplaceAll(answer, full)
		answer = bytes.ReplaceAll(answer, []byte("version_conflict_engine_exception"), []byte("es_rejected_execution_exception"))
		_, _ = w.Write(answer)
	})(w, req, next)
}

// TestRepairDuringARebuildBecomesVisible: a document that is sent again goes to the index
// behind the alias as well.
func TestRepairDuringARebuildBecomesVisible(t *testing.T) {
	t.Parallel()
	r := filledRig(t, rebuilding(), 200)
	r.newIndexAnswers(refusesOne)
	r.rebuild()
	var sent report.Entry
	r.Eventually("some documents are in the new index", func() bool {
		for id := range 20 {
			status, _ := r.Ask("GET", "/"+r.Indices.Index(report.Cities, 2)+"/_doc/"+strconv.Itoa(id), "")
			e := r.Entry(strconv.Itoa(id))
			if status == http.StatusOK && e.State == report.StateSettled && r.status().Phase == report.PhaseFilling {
				sent = e
				return true
			}
		}
		return false
	})
	r.Change("DELETE", "/"+r.Indices.Alias(report.Cities)+"/_doc/"+string(sent.ID), "")
	n, err := r.Journal.Reissue(t.Context(), []report.Stamp{sent.Stamp})
	require.NoError(t, err)
	if n != 1 {
		t.Fatalf("%d reissued", n)
	}
	r.Eventually("apps find it again", func() bool { return r.Document(report.Cities, string(sent.ID)) != nil })
	r.isGivenUp()
}

// TestDeletesAreRemindedOfDuringARebuild: what came back to the index that apps search while
// Elasticsearch was away is removed there, even if the new one never takes its place.
func TestDeletesAreRemindedOfDuringARebuild(t *testing.T) {
	t.Parallel()
	cfg := rebuilding()
	cfg.RestartTakes = time.Millisecond
	r := filledRig(t, cfg, 50) // the document 50 is deleted
	r.newIndexAnswers(refusesOne)
	r.rebuild()
	r.Eventually("the new index has all others", func() bool { return r.Stats().Kinds[report.Cities].Resending == 1 })
	old := r.Indices.Index(report.Cities, 1)
	r.Change("PUT", "/"+old+"/_settings", `{"index.gc_deletes":"0s"}`) // it forgets, as in a restart
	r.away()
	r.Eventually("an older write arrives late", func() bool {
		r.Change("POST", "/"+old+"/_refresh", "")
		status, _ := r.Ask("PUT", "/"+old+"/_doc/50?version=1&version_type=external", `{"source":{"title":"back"}}`)
		return status == http.StatusCreated
	})
	r.newIndexAnswers(refusesOne)
	r.Eventually("what came back is gone again", func() bool { return r.Document(report.Cities, "50") == nil })
	r.isGivenUp()
}

// TestIndexThatTakesNoRemindersIsReplaced: a rebuild is what replaces it.
func TestIndexThatTakesNoRemindersIsReplaced(t *testing.T) {
	t.Parallel()
	cfg := rebuilding()
	cfg.RestartTakes = time.Millisecond
	r := filledRig(t, cfg, 200)
	g := r.half()
	r.Change("PUT", "/"+r.Indices.Index(report.Cities, 1)+"/_settings", `{"index.blocks.write":true}`)
	r.Fail(cut)
	close(g.open)
	r.away()
	r.Heal()
	r.only(2)
	r.complete()
}

func TestRebuildIsGivenUpWhenTheNewIndexTakesNothing(t *testing.T) {
	t.Parallel()
	cfg := rebuilding()
	cfg.RebuildTimeout = 1 // nanosecond
	r := filledRig(t, cfg, 100)
	r.newIndexAnswers(indexertest.AnswerWith(429, `{"error":{"type":"es_rejected_execution_exception","reason":"full"},"status":429}`))
	r.rebuild()
	r.reaches(report.PhaseFilling)
	r.Eventually("some attempts fail", func() bool { return r.Metric("riskdex_retries_total", "reason", "overloaded") > 100 })
	if s := r.status(); s.Phase != report.PhaseFilling {
		t.Fatalf("the rebuild was given up although nobody waits: %+v", s)
	}
	r.Append(indexertest.Index(report.Cities, "live", `{"title":"live"}`))
	r.reaches(report.PhaseFailed)
	if s := r.status(); !strings.Contains(s.Reason, "full") {
		t.Errorf("the reason %q lacks what an operator needs", s.Reason)
	}
	r.only(1)
	r.complete()
}

// TestRebuildWhileAnswersFailNowAndThen, for both indices.
func TestRebuildWhileAnswersFailNowAndThen(t *testing.T) {
	t.Parallel()
	faults := map[string]indexertest.Fault{
		"429":                      indexertest.AnswerWith(429, `{"error":{"type":"es_rejected_execution_exception","reason":"full"},"status":429}`),
		"503":                      indexertest.AnswerWith(503, `{"error":{"type":"x","reason":"x"},"status":503}`),
		"cut after it was applied": indexertest.Applied(func(http.ResponseWriter, []byte) { panic(http.ErrAbortHandler) }),
	}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			r := filledRig(t, rebuilding(), 300)
			r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
				// Every step of a rebuild fails now and then, too.
				if rand.IntN(6) == 0 {
					f(w, req, next)
					return
				}
				next.ServeHTTP(w, req)
			})
			r.rebuild()
			for i, c := range indexertest.Many(report.Cities, 100, "new") {
				if i%3 == 0 {
					c = indexertest.Delete(report.Cities, string(c.ID))
				}
				r.Append(c)
			}
			r.reaches(report.PhaseDone)
			r.complete()
			r.Heal()
			r.Eventually("one index is left", func() bool { return len(r.behind()) == 1 })
			r.complete()
		})
	}
}

// TestRebuildGoesOnWhenTheAnswerToItsSwapIsLost, even if the index is checked before the
// swap is retried.
func TestRebuildGoesOnWhenTheAnswerToItsSwapIsLost(t *testing.T) {
	t.Parallel()
	r := filledRig(t, rebuilding(), 50)
	cut := indexertest.Applied(func(http.ResponseWriter, []byte) { panic(http.ErrAbortHandler) })
	var swapped, checked atomic.Bool
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		_, last, _ := strings.Cut(req.URL.Path, "/_")
		switch {
		case last == "aliases" && !swapped.Swap(true):
			r.Append(indexertest.Index(report.Cities, "live", `{"title":"live"}`))
			cut(w, req, next)
		case swapped.Load() && !checked.Load() && (last == "refresh" || last == "bulk"):
			w.WriteHeader(503) // the swap is not retried before the check
		default:
			next.ServeHTTP(w, req)
			if swapped.Load() && strings.Contains(req.URL.Path, "-v*,") {
				checked.Store(true)
			}
		}
	})
	r.rebuild()
	r.reaches(report.PhaseDone)
	if !checked.Load() {
		t.Error("the index was not checked in between")
	}
	r.only(2)
	r.complete()
}

// TestAliasLostDuringARebuild: without the index behind it, that one is filled first. If it alone is
// lost, the rebuild goes on.
func TestAliasLostDuringARebuild(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lose  func(r *rig)
		phase report.RebuildPhase
		index int
	}{
		"the index is deleted": {func(r *rig) { r.Change("DELETE", "/"+r.Indices.Index(report.Cities, 1), "") }, report.PhaseFailed, 1},
		"the alias is removed": {func(r *rig) {
			r.Change("DELETE", "/"+r.Indices.Index(report.Cities, 1)+"/_alias/"+r.Indices.Alias(report.Cities), "")
		}, report.PhaseDone, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := filledRig(t, rebuilding(), 200)
			g := r.half()
			c.lose(r)
			r.Append(indexertest.Index(report.Cities, "live", `{"title":"live"}`))
			close(g.open)
			r.Eventually("the rebuild ends", func() bool { return r.status().Phase == c.phase })
			r.only(c.index)
			r.complete()
		})
	}
}

// TestRebuildThatEndsEarlyTakesNothingFromThoseWhoSearch: it begins while the index
// behind the alias is being filled, fails temporarily once it has created its own index,
// begins again, and is stopped. What was marked for the alias must have gone there.
func TestRebuildThatEndsEarlyTakesNothingFromThoseWhoSearch(t *testing.T) {
	t.Parallel()
	cfg := rebuilding()
	cfg.BulkChanges = 1
	r := filledRig(t, cfg, 400)
	var cut atomic.Bool
	lost := indexertest.Applied(func(http.ResponseWriter, []byte) { panic(http.ErrAbortHandler) })
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		switch {
		case indexertest.IsBulk(req):
			time.Sleep(10 * time.Millisecond)
		case req.Method == "PUT" && req.URL.Path == "/"+r.Indices.Index(report.Cities, 2) && !cut.Swap(true):
			lost(w, req, next)
			return
		}
		next.ServeHTTP(w, req)
	})
	r.Change("DELETE", "/"+r.Indices.Index(report.Cities, 1), "")
	r.Eventually("the index behind the alias is filled", func() bool {
		return r.behind()[r.Indices.Index(report.Cities, 1)] && r.Stats().Kinds[report.Cities].Resending > 200
	})
	r.rebuild()
	r.Eventually("something was sent for the rebuild", func() bool {
		s := r.status()
		return s.Phase == report.PhaseFilling && s.Remaining < s.Total-30
	})
	if !cut.Load() {
		t.Error("the rebuild began at once")
	}
	require.NoError(t, r.Indexer.StopRebuild(report.Cities))
	r.Heal()
	r.Drained()
	r.Eventually("one index is left", func() bool { return len(r.behind()) == 1 })
	r.complete()
	if n := r.Count(report.Cities); n != 400 {
		t.Errorf("%d documents of 400", n)
	}
}

// copyIndex copies the index that apps search, as an operator would.
func (r *rig) copyIndex(name string) {
	r.T.Helper()
	alias := r.Indices.Alias(report.Cities)
	r.Change("PUT", "/"+name, r.made(alias))
	r.Change("POST", "/"+alias+"/_refresh", "")
	_, answer := r.Ask("POST", "/"+alias+"/_search", `{"size":10000,"version":true}`)
	var bulk strings.Builder
	for _, hit := range answer["hits"].(map[string]any)["hits"].([]any) {
		h := hit.(map[string]any)
		action, err := json.Marshal(map[string]any{"index": map[string]any{"_id": h["_id"], "version_type": "external", "version": int64(h["_version"].(float64))}})
		require.NoError(r.T, err)
		doc, err := json.Marshal(h["_source"])
		require.NoError(r.T, err)
		bulk.Write(action)
		bulk.WriteByte('\n')
		bulk.Write(doc)
		bulk.WriteByte('\n')
	}
	r.Change("POST", "/"+name+"/_bulk", bulk.String())
}

func (r *rig) moveAlias(from, to string) {
	r.T.Helper()
	alias := r.Indices.Alias(report.Cities)
	r.Change("POST", "/_aliases", `{"actions":[{"remove":{"index":"`+from+`","alias":"`+alias+`"}},
		{"add":{"index":"`+to+`","alias":"`+alias+`","is_write_index":true}}]}`)
}

// TestAliasSwapDuringFullLoad: somebody else moves the alias to a copy. That is told, riskdex goes on
// filling its own index, and what was written between is there once the alias is back, or a
// rebuild has moved it.
func TestAliasSwapDuringFullLoad(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ rebuilding, down bool }{
		"while it runs": {}, "during a rebuild": {rebuilding: true}, "while riskdex is down": {down: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := filledRig(t, rebuilding(), 200)
			_, stop := r.load(3)
			settled := func() uint64 { return r.Stats().Kinds[report.Cities].Settled[report.Indexed] }
			before := settled()
			more := func() {
				r.Eventually("the load goes on", func() bool { return settled() > before+300 })
				before = settled()
			}
			more()
			copied := r.Indices.Alias(report.Cities) + "-copy"
			r.copyIndex(copied)
			r.Append(indexertest.Index(report.Cities, "between", `{"title":"between"}`), indexertest.Delete(report.Cities, "3"))
			r.Eventually("the old index has it", func() bool {
				return r.Document(report.Cities, "between") != nil && r.Document(report.Cities, "3") == nil
			})
			more()
			open := func() {}
			switch {
			case c.down:
				stop()
				r.Drained()
				r.Stop()
			case c.rebuilding:
				g := r.half()
				open = func() { close(g.open) }
			}
			r.moveAlias(r.Indices.Index(report.Cities, 1), copied)
			open()
			if c.down {
				r.restart(rebuilding(), nil, nil)
			}
			if c.rebuilding {
				r.reaches(report.PhaseDone)
			} else {
				// Under load the lane is never idle, and must notice by itself.
				r.Eventually("it is told", func() bool { return len(r.Indexer.WrongAliases()) == 1 })
				if all := r.behind(); !all[copied] || all[r.Indices.Index(report.Cities, 1)] {
					t.Errorf("the alias did not stay where somebody put it; searched are %v", all)
				}
				r.moveAlias(copied, r.Indices.Index(report.Cities, 1))
			}
			stop()
			r.complete()
			r.Eventually("nothing is told any more", func() bool { return len(r.Indexer.WrongAliases()) == 0 })
		})
	}
}
