package indexer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/indexer"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// rebuilding makes rebuilds of small indices take several bulks, of a quarter of BulkChanges.
func rebuilding() indexer.Config {
	cfg := indexertest.Quick()
	cfg.BulkChanges = 80
	cfg.RetireAfter, cfg.RebuildTimeout = 50*time.Millisecond, time.Hour
	return cfg
}

// restart starts a new process on the journal and the indices. If set is not nil, it
// makes the documents.
func (r *rig) restart(cfg indexer.Config, set *mappings.Set, documents indexer.Documents) {
	r.T.Helper()
	r.Stop()
	if set == nil {
		set = r.Indices.Set
	}
	if documents == nil {
		documents = set
	}
	log := slog.New(slog.NewTextHandler(r.T.Output(), &slog.HandlerOptions{Level: slog.LevelInfo}))
	r.Indices = &indices.Indices{Client: r.Indices.Client, Prefix: r.Indices.Prefix, Set: set, Lineage: r.Journal.Lineage(), Log: log}
	r.Registry = prometheus.NewRegistry()
	x, err := indexer.New(cfg, r.Journal, documents, r.Indices, r.Indices.Client, r.Registry, log)
	require.NoError(r.T, err)
	r.Indexer = x
	r.Run()
}

// mapped returns the built-in mappings with one text of index.json replaced.
func mapped(t *testing.T, old, new string) *mappings.Set {
	t.Helper()
	files := fstest.MapFS{}
	entries, err := os.ReadDir("../mappings")
	require.NoError(t, err)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		data, err := os.ReadFile("../mappings/" + e.Name())
		require.NoError(t, err)
		if e.Name() == "index.json" {
			text := strings.Replace(string(data), old, new, 1)
			if text == string(data) {
				t.Fatalf("index.json has no %s", old)
			}
			data = []byte(text)
		}
		files[e.Name()] = &fstest.MapFile{Data: data}
	}
	set, err := mappings.Load(files)
	require.NoError(t, err)
	return set
}

// status returns the status of the last rebuild of cities.
func (r *rig) status() report.Rebuild {
	for _, b := range r.Indexer.Rebuilds() {
		if b.Kind == report.Cities {
			return b
		}
	}
	return report.Rebuild{}
}

func (r *rig) reaches(phase report.RebuildPhase) {
	r.T.Helper()
	r.Eventually("the rebuild is "+string(phase), func() bool {
		s := r.status()
		if s.Phase == report.PhaseFailed && phase != report.PhaseFailed {
			r.T.Fatalf("the rebuild failed: %s", s.Reason)
		}
		return s.Phase == phase
	})
}

// behind returns the existing indices of cities, and for each whether apps search it.
func (r *rig) behind() map[string]bool {
	r.T.Helper()
	alias := r.Indices.Alias(report.Cities)
	_, answer := r.Ask("GET", "/"+alias+"*/_alias", "")
	all := map[string]bool{}
	for name, index := range answer {
		_, searched := index.(map[string]any)["aliases"].(map[string]any)[alias]
		all[name] = searched
	}
	return all
}

// only waits until apps search the n-th index of cities and there is no other.
func (r *rig) only(n int) {
	r.T.Helper()
	want := r.Indices.Index(report.Cities, n)
	r.Eventually("the index "+want+" is the only one", func() bool {
		all := r.behind()
		return len(all) == 1 && all[want]
	})
}

// complete checks that the alias has exactly what the journal has, in the same versions,
// and that nothing is dead.
func (r *rig) complete() {
	r.T.Helper()
	r.Drained()
	if n := r.Stats().Kinds[report.Cities].DeadLetters; n != 0 {
		r.T.Errorf("%d dead letters, want none", n)
	}
	alias := r.Indices.Alias(report.Cities)
	r.Change("POST", "/"+alias+"/_refresh", "")
	_, answer := r.Ask("POST", "/"+alias+"/_search", `{"size":10000,"version":true,"_source":false}`)
	have := map[report.ID]report.Version{}
	text, err := json.Marshal(answer["hits"].(map[string]any)["hits"])
	require.NoError(r.T, err)
	var hits []struct {
		ID      report.ID      `json:"_id"`
		Version report.Version `json:"_version"`
	}
	require.NoError(r.T, json.Unmarshal(text, &hits))
	for _, h := range hits {
		have[h.ID] = h.Version
	}
	var after report.ID
	for {
		entries, err := r.Journal.Entries(r.T.Context(), report.Cities, after, 1000)
		require.NoError(r.T, err)
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			after = e.ID
			got, there := have[e.ID]
			delete(have, e.ID)
			switch {
			case e.Op == report.Index && got != e.Version:
				r.T.Errorf("%s: version %d in the index, %d in the journal", e.ID, got, e.Version)
			case e.Op == report.Delete && there:
				r.T.Errorf("%s: deleted, yet in the index", e.ID)
			}
		}
	}
	for id := range have {
		r.T.Errorf("%s: in the index, unknown to the journal", id)
	}
}

// gate blocks bulks for the second index of cities, after it has let some pass.
type gate struct {
	reached chan struct{} // a value for every bulk that is blocked
	open    chan struct{}
}

func (r *rig) gate(pass int) *gate {
	g := &gate{reached: make(chan struct{}, 1000), open: make(chan struct{})}
	path := "/" + r.Indices.Index(report.Cities, 2) + "/_bulk"
	seats := make(chan struct{}, pass)
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.URL.Path == path {
			select {
			case seats <- struct{}{}:
			default:
				g.reached <- struct{}{}
				<-g.open
			}
		}
		next.ServeHTTP(w, req)
	})
	return g
}

// half starts a rebuild, and returns when it has sent something and waits at the gate.
func (r *rig) half() *gate {
	r.T.Helper()
	g := r.gate(2)
	r.rebuild()
	<-g.reached
	r.reaches(report.PhaseFilling)
	return g
}

// newIndexAnswers answers bulks for the second index of cities with f.
func (r *rig) newIndexAnswers(f indexertest.Fault) {
	path := "/" + r.Indices.Index(report.Cities, 2) + "/_bulk"
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.URL.Path == path {
			f(w, req, next)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// filledRig has n documents in its index, one of them corrected, and the tombstone of a
// deleted one.
func filledRig(t *testing.T, cfg indexer.Config, n int) *rig {
	t.Helper()
	r := start(t, cfg)
	r.Append(indexertest.Many(report.Cities, n+1, "text")...)
	r.Append(indexertest.Delete(report.Cities, fmt.Sprint(n)), indexertest.Index(report.Cities, "0", `{"title":"corrected","risk_level":3}`))
	r.Drained()
	return r
}

// cut answers nothing.
func cut(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// away has Elasticsearch answer nothing until the rig is healed, and waits until that is noticed.
func (r *rig) away() {
	r.T.Helper()
	r.Fail(cut)
	r.Eventually("Elasticsearch is shown as away", func() bool { return !r.Indexer.ElasticsearchUp() })
}

// isGivenUp stops a rebuild that must still fill the new index, after which the old one has
// everything.
func (r *rig) isGivenUp() {
	r.T.Helper()
	if s := r.status(); s.Phase != report.PhaseFilling {
		r.T.Errorf("the rebuild is %+v, want it still filling", s)
	}
	require.NoError(r.T, r.Indexer.StopRebuild(report.Cities))
	r.only(1)
	r.complete()
}

// rebuild starts a rebuild of cities, once the indexer runs.
func (r *rig) rebuild() {
	r.T.Helper()
	r.Eventually("the indexer accepts commands", func() bool {
		err := r.Indexer.Rebuild(report.Cities)
		if err != nil && !errors.Is(err, indexer.ErrNotRunning) {
			r.T.Fatal(err)
		}
		return err == nil
	})
}
