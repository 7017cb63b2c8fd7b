package indexer_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"riskdex/internal/testkit/indexertest"
	"riskdex/report"
)

// TestProcessDiesDuringARebuild in each of its phases, before and after Elasticsearch has
// carried out a request. Nothing more comes from that process, and the next one ends with
// one complete index.
func TestProcessDiesDuringARebuild(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(r *rig, req *http.Request) bool{
		"making the new index": func(r *rig, req *http.Request) bool {
			return req.Method == "PUT" && req.URL.Path == "/"+r.Indices.Index(report.Cities, 2)
		},
		"filling it": func(r *rig, req *http.Request) bool {
			return req.URL.Path == "/"+r.Indices.Index(report.Cities, 2)+"/_bulk"
		},
		"refreshing it": func(r *rig, req *http.Request) bool {
			return req.URL.Path == "/"+r.Indices.Index(report.Cities, 2)+"/_refresh"
		},
		"moving the alias": func(_ *rig, req *http.Request) bool { return req.URL.Path == "/_aliases" },
		"deleting the old index": func(r *rig, req *http.Request) bool {
			return req.Method == "DELETE" && strings.HasSuffix(req.URL.Path, r.Indices.Index(report.Cities, 1))
		},
	} {
		for _, done := range []bool{false, true} {
			when := "before "
			if done {
				when = "after "
			}
			t.Run(when+name, func(t *testing.T) {
				r := filledRig(t, rebuilding(), 60)
				died := r.dieAt(at, done)
				r.rebuild()
				<-died
				r.Append(indexertest.Index(report.Cities, "2", `{"title":"live"}`), indexertest.Delete(report.Cities, "3"))
				r.Stop()
				r.Heal()
				r.restart(rebuilding(), nil, nil)
				r.Append(indexertest.Index(report.Cities, "4", `{"title":"live"}`), indexertest.Delete(report.Cities, "5"))
				r.complete()
				r.Eventually("apps search one index, and there is no other", func() bool {
					all := r.behind()
					for name, searched := range all {
						return len(all) == 1 && searched && r.settledOn(name)
					}
					return false
				})
				r.complete()
				if made := name != "making the new index" || done; made && r.behind()[r.Indices.Index(report.Cities, 1)] {
					t.Error("the rebuild that was interrupted has been forgotten")
				}
			})
		}
	}
}

// settledOn reports whether no rebuild is under way that would change the index.
func (r *rig) settledOn(index string) bool {
	s := r.status()
	return s.Phase == "" || s.Phase == report.PhaseDone && s.NewIndex == index
}

// dieAt lets no request through from a certain one on. That one still reaches
// Elasticsearch if done is set.
func (r *rig) dieAt(at func(r *rig, req *http.Request) bool, done bool) (died chan struct{}) {
	died = make(chan struct{})
	var mu sync.Mutex
	dead := false
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		mu.Lock()
		last := !dead && at(r, req)
		dead = dead || last
		if last && done {
			next.ServeHTTP(httptest.NewRecorder(), req)
		}
		gone := dead
		mu.Unlock()
		if last {
			close(died)
		}
		if gone {
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(w, req)
	})
	return died
}
