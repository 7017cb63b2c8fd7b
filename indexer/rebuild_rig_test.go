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
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// rebuilding makes rebuilds of small indices take several bulks.
func rebuilding() indexer.Config {
	cfg := quick()
	cfg.BulkChanges = 20
	cfg.RetireAfter, cfg.RebuildPatience = 50*time.Millisecond, time.Hour
	return cfg
}

// restart lets a new process take over journal and indices, with documents made
// in another way where set is not nil.
func (r *rig) restart(cfg indexer.Config, set *mappings.Set, documents indexer.Documents) {
	r.t.Helper()
	r.stop()
	if set == nil {
		set = r.indices.Set
	}
	if documents == nil {
		documents = set
	}
	log := slog.New(slog.NewTextHandler(r.t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo}))
	r.indices = &indices.Indices{Client: r.indices.Client, Prefix: r.indices.Prefix, Set: set, Line: r.journal.Line(), Log: log}
	r.reg = prometheus.NewRegistry()
	x, err := indexer.New(cfg, r.journal, documents, r.indices, r.indices.Client, r.reg, log)
	must(r.t, err)
	r.indexer = x
	r.run()
}

// mapped returns the built-in mappings with one text of index.json replaced.
func mapped(t *testing.T, old, new string) *mappings.Set {
	t.Helper()
	files := fstest.MapFS{}
	entries, err := os.ReadDir("../mappings")
	must(t, err)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		data, err := os.ReadFile("../mappings/" + e.Name())
		must(t, err)
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
	must(t, err)
	return set
}

// status returns what is known of the last rebuild of cities.
func (r *rig) status() report.Rebuild {
	for _, b := range r.indexer.Rebuilds() {
		if b.Kind == report.Cities {
			return b
		}
	}
	return report.Rebuild{}
}

func (r *rig) reaches(phase report.RebuildPhase) {
	r.t.Helper()
	r.eventually("the rebuild is "+string(phase), func() bool {
		s := r.status()
		if s.Phase == report.PhaseFailed && phase != report.PhaseFailed {
			r.t.Fatalf("the rebuild failed: %s", s.Reason)
		}
		return s.Phase == phase
	})
}

// behind returns the indices of cities that there are: for each, whether apps
// search it.
func (r *rig) behind() map[string]bool {
	r.t.Helper()
	alias := r.indices.Alias(report.Cities)
	_, answer := r.ask("GET", "/"+alias+"*/_alias", "")
	all := map[string]bool{}
	for name, index := range answer {
		_, searched := index.(map[string]any)["aliases"].(map[string]any)[alias]
		all[name] = searched
	}
	return all
}

// only waits until apps search the n-th index of cities and there is no other.
func (r *rig) only(n int) {
	r.t.Helper()
	want := r.indices.Index(report.Cities, n)
	r.eventually("the index "+want+" is the only one", func() bool {
		all := r.behind()
		return len(all) == 1 && all[want]
	})
}

// complete checks that the alias has exactly what the journal has, in the same
// versions, and that nothing is dead.
func (r *rig) complete() {
	r.t.Helper()
	r.drained()
	if n := r.stats().Kinds[report.Cities].DeadLetters; n != 0 {
		r.t.Errorf("%d dead letters", n)
	}
	alias := r.indices.Alias(report.Cities)
	r.change("POST", "/"+alias+"/_refresh", "")
	_, answer := r.ask("POST", "/"+alias+"/_search", `{"size":10000,"version":true,"_source":false}`)
	have := map[report.ID]report.Version{}
	text, err := json.Marshal(answer["hits"].(map[string]any)["hits"])
	must(r.t, err)
	var hits []struct {
		ID      report.ID      `json:"_id"`
		Version report.Version `json:"_version"`
	}
	must(r.t, json.Unmarshal(text, &hits))
	for _, h := range hits {
		have[h.ID] = h.Version
	}
	var after report.ID
	for {
		entries, err := r.journal.Entries(r.t.Context(), report.Cities, after, 1000)
		must(r.t, err)
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			after = e.ID
			got, there := have[e.ID]
			delete(have, e.ID)
			switch {
			case e.Op == report.Index && got != e.Version:
				r.t.Errorf("%s: version %d in the index, %d in the journal", e.ID, got, e.Version)
			case e.Op == report.Delete && there:
				r.t.Errorf("%s: deleted, yet in the index", e.ID)
			}
		}
	}
	for id := range have {
		r.t.Errorf("%s: in the index, unknown to the journal", id)
	}
}

// gate holds up bulks for the second index of cities, after it has let some pass.
type gate struct {
	reached chan struct{} // a value for every bulk that is held up
	open    chan struct{}
}

func (r *rig) gate(pass int) *gate {
	g := &gate{reached: make(chan struct{}, 1000), open: make(chan struct{})}
	path := "/" + r.indices.Index(report.Cities, 2) + "/_bulk"
	seats := make(chan struct{}, pass)
	r.fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
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

// half starts a rebuild and returns when it has sent something and waits at the
// gate.
func (r *rig) half() *gate {
	r.t.Helper()
	g := r.gate(2)
	r.rebuild()
	<-g.reached
	r.reaches(report.PhaseFilling)
	return g
}

// newIndexAnswers has bulks for the second index of cities answered by f.
func (r *rig) newIndexAnswers(f fault) {
	path := "/" + r.indices.Index(report.Cities, 2) + "/_bulk"
	r.fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.URL.Path == path {
			f(w, req, next)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// filledRig has n documents in its index, one of them corrected, and the trace of
// a deleted one.
func filledRig(t *testing.T, cfg indexer.Config, n int) *rig {
	t.Helper()
	r := start(t, cfg)
	r.append(many(report.Cities, n+1, "text")...)
	r.append(remove(report.Cities, fmt.Sprint(n)), index(report.Cities, "0", `{"title":"corrected","risk_level":3}`))
	r.drained()
	return r
}

// rebuild starts a rebuild of cities, once the indexer runs.
func (r *rig) rebuild() {
	r.t.Helper()
	r.eventually("the indexer takes orders", func() bool {
		err := r.indexer.Rebuild(report.Cities)
		if err != nil && !errors.Is(err, indexer.ErrNotRunning) {
			r.t.Fatal(err)
		}
		return err == nil
	})
}
