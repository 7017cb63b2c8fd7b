package indexer_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/indexer"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

func isRefresh(req *http.Request) bool { return strings.HasSuffix(req.URL.Path, "/_refresh") }

// onRefresh passes refreshes to f, and all other requests to the server.
func onRefresh(f indexertest.Fault) indexertest.Fault {
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if isRefresh(req) {
			f(w, req, next)
			return
		}
		next.ServeHTTP(w, req)
	}
}

// stillStart makes a rig whose indices do not refresh by themselves, and runs it.
func stillStart(t *testing.T, cfg indexer.Config) *rig {
	t.Helper()
	r := start(t, cfg)
	r.Eventually("every kind can be searched", r.searched)
	r.Change("PUT", "/"+r.Indices.Prefix+"*/_settings?expand_wildcards=all", `{"index.refresh_interval":"-1"}`)
	return r
}

// searched reports whether every kind can be searched.
func (r *rig) searched() bool {
	return !slices.ContainsFunc(report.Kinds(), func(kind report.Kind) bool { return r.Visible(kind) < 0 })
}

func (r *rig) becomesVisible(kind report.Kind, n int) {
	r.T.Helper()
	r.Eventually(fmt.Sprintf("%d documents are visible", n), func() bool { return r.Visible(kind) == n })
}

func (r *rig) refreshes(kind report.Kind) int {
	r.T.Helper()
	return int(r.Metric("riskdex_refresh_seconds", "kind", string(kind)))
}

func (r *rig) refreshesFailed() int {
	r.T.Helper()
	return int(r.Metric("riskdex_refreshes_failed_total"))
}

// TestLoneChangeBecomesVisible, one after the other, although nobody else refreshes.
func TestLoneChangeBecomesVisible(t *testing.T) {
	t.Parallel()
	r := stillStart(t, indexertest.Quick())
	for i, c := range indexertest.Many(report.Cities, 5, "text") {
		r.Append(c)
		r.becomesVisible(report.Cities, i+1)
	}
	r.Append(indexertest.Delete(report.Cities, "0"))
	r.becomesVisible(report.Cities, 4)
	if n := r.refreshes(report.Advisories); n != 0 {
		t.Errorf("%d refreshes of an index that nothing was written to", n)
	}
}

// TestLostAnswerBecomesVisible: what was written without riskdex knowing is superseded
// when it is sent again, and still needs a refresh.
func TestLostAnswerBecomesVisible(t *testing.T) {
	t.Parallel()
	r := stillStart(t, indexertest.Quick())
	lost := indexertest.Applied(func(http.ResponseWriter, []byte) { panic(http.ErrAbortHandler) })
	var bulks atomic.Int64
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if indexertest.IsBulk(req) && bulks.Add(1) == 1 {
			lost(w, req, next)
			return
		}
		next.ServeHTTP(w, req)
	})
	r.Append(indexertest.Index(report.Cities, "1", `{}`))
	r.becomesVisible(report.Cities, 1)
	r.Drained()
	if n := r.superseded(); n != 1 {
		t.Errorf("%d superseded, want 1", n)
	}
}

func TestProbeBecomesVisible(t *testing.T) {
	t.Parallel()
	r := stillStart(t, indexertest.Probed())
	r.Eventually("the probe's index is there", func() bool {
		status, _ := r.Ask("PUT", "/"+r.Indices.Index(report.Probe, 1)+"/_settings", `{"index.refresh_interval":"-1"}`)
		return status == http.StatusOK
	})
	r.Probe(indexertest.Often()).Finds(3)
}

// TestBacklogIsRefreshedOnceAtItsEnd also shows that the last changes of a load do not
// depend on another refresh.
func TestBacklogIsRefreshedOnceAtItsEnd(t *testing.T) {
	t.Parallel()
	cfg := indexertest.Quick()
	cfg.BulkChanges = 20
	r := stillStart(t, cfg)
	r.Stop()
	const documents = 1000
	var bulks, early, refreshes atomic.Int64
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if isRefresh(req) && bulks.Load() > 0 { // each index is refreshed before it is compared with the journal
			refreshes.Add(1)
			if bulks.Load() < documents/20 {
				early.Add(1)
			}
		}
		next.ServeHTTP(w, req)
		if indexertest.IsBulk(req) {
			bulks.Add(1)
		}
	})
	r.Append(indexertest.Many(report.Cities, documents, "text")...)
	r.restart(cfg, nil, nil)
	r.becomesVisible(report.Cities, documents)
	if early.Load() != 0 || refreshes.Load() != 1 {
		t.Errorf("%d refreshes, of them %d before everything was written; want one in the end", refreshes.Load(), early.Load())
	}
}

func TestWithoutAShareNothingIsRefreshed(t *testing.T) {
	t.Parallel()
	cfg := indexertest.Quick()
	cfg.RefreshShare = 0
	r := stillStart(t, cfg)
	var refreshes, bulks, others atomic.Int64
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		switch {
		case isRefresh(req), req.URL.Query().Has("refresh"):
			if bulks.Load() > 0 { // each index is refreshed before it is compared with the journal
				refreshes.Add(1)
			}
		case indexertest.IsBulk(req):
			bulks.Add(1)
		default:
			others.Add(1)
		}
		next.ServeHTTP(w, req)
	})
	r.Append(indexertest.Many(report.Cities, 10, "text")...)
	r.Drained()
	before := others.Load()
	r.Eventually("idle indices are checked", func() bool { return others.Load() > before+10 })
	if n := refreshes.Load(); n != 0 {
		t.Errorf("%d refreshes", n)
	}
}

// TestFailingRefreshesHarmNothing: whatever the answer is, everything is written as
// before, and the next refresh is requested a second later at the earliest.
func TestFailingRefreshesHarmNothing(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]indexertest.Fault{
		"missing privilege": indexertest.AnswerWith(403, `{"error":{"type":"security_exception","reason":"no"},"status":403}`),
		"cut":               func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) },
		"a failed shard": indexertest.Applied(func(w http.ResponseWriter, _ []byte) {
			_, _ = w.Write([]byte(`{"_shards":{"total":2,"successful":1,"failed":1}}`))
		}),
	} {
		t.Run(name, func(t *testing.T) {
			r := stillStart(t, indexertest.Quick())
			var asked atomic.Int64
			r.Fail(onRefresh(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
				asked.Add(1)
				f(w, req, next)
			}))
			began := time.Now()
			for _, c := range indexertest.Many(report.Cities, 50, "text") {
				r.Append(c)
				r.Drained(report.Cities)
			}
			r.Eventually("a failure is counted", func() bool { return r.refreshesFailed() > 0 })
			if n, most := asked.Load(), 2+int64(time.Since(began)/time.Second); n > most {
				t.Errorf("%d refreshes were asked for, want %d at most", n, most)
			}
			if w := r.Indexer.Waiting(); w != nil || r.Metric("riskdex_held") != 0 || r.Metric("riskdex_failures_total") != 0 || r.Metric("riskdex_retries_total") != 0 {
				t.Errorf("a failed refresh counts as trouble: %+v", w)
			}
			r.Heal()
			r.becomesVisible(report.Cities, 50) // nothing more is written
		})
	}
}

// lateRefreshes passes refreshes on, and delays their answers until they are released.
func lateRefreshes(r *rig) (asked *atomic.Int64, let func()) {
	asked, gate := new(atomic.Int64), make(chan struct{})
	let = sync.OnceFunc(func() { close(gate) })
	r.T.Cleanup(let)
	r.Fail(onRefresh(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, req)
		asked.Add(1)
		<-gate
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}))
	return asked, let
}

// TestNothingWaitsForARefresh: even with a single worker, everything continues during a
// refresh, and another refresh shows what is written meanwhile.
func TestNothingWaitsForARefresh(t *testing.T) {
	t.Parallel()
	cfg := indexertest.Quick()
	cfg.Workers, cfg.CheckEvery = 1, time.Hour // so that only the end of its rest makes the index refresh again
	r := stillStart(t, cfg)
	asked, let := lateRefreshes(r)
	r.Append(indexertest.Index(report.Cities, "1", `{}`))
	r.Eventually("a refresh is under way", func() bool { return asked.Load() == 1 })
	r.Append(indexertest.Index(report.Cities, "2", `{}`), indexertest.Index(report.Advisories, "1", `{}`))
	r.Drained()
	r.becomesVisible(report.Advisories, 1)
	if n := r.Visible(report.Cities); n != 1 {
		t.Fatalf("%d cities visible, want that of before the refresh", n)
	}
	let()
	r.becomesVisible(report.Cities, 2)
}

// TestStopWaitsForNoRefresh gives Stop half of the time that a request may take.
func TestStopWaitsForNoRefresh(t *testing.T) {
	t.Parallel()
	r := stillStart(t, indexertest.Quick())
	asked, _ := lateRefreshes(r)
	r.Append(indexertest.Index(report.Cities, "1", `{}`))
	r.Eventually("a refresh is under way", func() bool { return asked.Load() == 1 })
	began := time.Now()
	r.Stop()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the stop took %v", took)
	}
	if n := r.refreshesFailed(); n != 0 {
		t.Errorf("%d refreshes are said to have failed", n)
	}
}

// TestRebuildRefreshesNothingThatIsSearched: the documents that are sent again go only to
// the new index, which is refreshed before it is swapped in.
func TestRebuildRefreshesNothingThatIsSearched(t *testing.T) {
	t.Parallel()
	r := stillStart(t, rebuilding())
	r.Append(indexertest.Many(report.Cities, 50, "text")...)
	r.becomesVisible(report.Cities, 50)
	r.Eventually("its refresh is over", func() bool { return r.refreshes(report.Cities) > 0 })
	before := r.refreshes(report.Cities)
	require.NoError(t, r.Indexer.Rebuild(report.Cities))
	r.Eventually("the cities were rebuilt", func() bool { return r.status().Phase == report.PhaseDone })
	if n := r.Visible(report.Cities); n != 50 {
		t.Errorf("%d cities visible, want 50", n)
	}
	if n := r.refreshes(report.Cities) - before; n != 0 {
		t.Errorf("%d refreshes of what nothing was written to", n)
	}
}

// TestChangeDuringARebuildBecomesVisible while a rebuild is about to end and has nothing
// left to send.
func TestChangeDuringARebuildBecomesVisible(t *testing.T) {
	t.Parallel()
	r := stillStart(t, rebuilding())
	r.Append(indexertest.Many(report.Cities, 50, "text")...)
	r.becomesVisible(report.Cities, 50)
	swaps := "/" + r.Indices.Index(report.Cities, 2) + "/_refresh" // of the swap; the dispatcher's is of the first index
	var held atomic.Int64
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.URL.Path == swaps {
			held.Add(1)
			indexertest.AnswerWith(503, `{}`)(w, req, next)
			return
		}
		next.ServeHTTP(w, req)
	})
	require.NoError(t, r.Indexer.Rebuild(report.Cities))
	r.Eventually("the new index is complete", func() bool { return held.Load() > 0 })
	r.Append(indexertest.Index(report.Cities, "new", `{}`))
	r.becomesVisible(report.Cities, 51)
	if r.status().Phase == report.PhaseDone {
		t.Error("the rebuild is over")
	}
	r.Heal()
	r.Eventually("the cities were rebuilt", func() bool { return r.status().Phase == report.PhaseDone })
}
