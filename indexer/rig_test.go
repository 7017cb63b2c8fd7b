package indexer_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/elastic"
	"riskdex/indexer"
	"riskdex/internal/elasticserver/elastictest"
	"riskdex/internal/postgres/postgrestest"
	"riskdex/journal"
	"riskdex/journal/postgres"
	"riskdex/journal/sqlite"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
)

func TestMain(m *testing.M) {
	os.Exit(postgrestest.Main(func() int { return elastictest.Main(m) }))
}

// rig is an indexer between a real journal and a real Elasticsearch, with a
// proxy before the latter that can be told to fail.
type rig struct {
	t       *testing.T
	journal journal.Journal
	indices *indices.Indices
	indexer *indexer.Indexer
	reg     *prometheus.Registry
	direct  string // Elasticsearch itself
	fault   atomic.Pointer[fault]
	stop    func()
}

// fault does what it likes with a request to Elasticsearch. next is the real
// server.
type fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

func quick() indexer.Config {
	cfg := indexer.DefaultConfig()
	cfg.FirstBackoff, cfg.LongestBackoff = 2*time.Millisecond, 50*time.Millisecond
	cfg.CheckEvery, cfg.StopWithin, cfg.DebounceLimit = 50*time.Millisecond, 5*time.Second, time.Millisecond
	return cfg
}

// parts are what a rig may have instead of what it has by default.
type parts struct {
	elasticsearch string        // the server; the one of all tests by default
	client        string        // where the indexer reaches it; the rig's proxy by default
	set           *mappings.Set // the built-in one by default
	journal       func(journal.Journal) indexer.Journal
	documents     indexer.Documents
	postgres      string // where the journal is; a file of the rig's own by default
	prefix        string // of its indices; one of its own by default
	log           *slog.Logger
}

// assemble makes a rig whose indexer does not run yet.
func assemble(t *testing.T, cfg indexer.Config) *rig {
	t.Helper()
	return assembleOf(t, cfg, parts{})
}

func assembleOf(t *testing.T, cfg indexer.Config, p parts) *rig {
	t.Helper()
	r := &rig{t: t, direct: cmp.Or(p.elasticsearch, elastictest.URL(t)), reg: prometheus.NewRegistry(), stop: func() {}}
	log := cmp.Or(p.log, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError})))
	target, err := url.Parse(r.direct)
	must(t, err)
	real := httputil.NewSingleHostReverseProxy(target)
	real.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if f := r.fault.Load(); f != nil {
			(*f)(w, req, real)
			return
		}
		real.ServeHTTP(w, req)
	}))
	t.Cleanup(proxy.Close)
	through, err := url.Parse(proxy.URL)
	must(t, err)
	through.User = target.User
	client, err := elastic.NewClient(elastic.Connection{URL: cmp.Or(p.client, through.String())})
	must(t, err)
	if p.postgres != "" {
		r.journal, err = postgres.Open(t.Context(), p.postgres, journal.Options{Log: log})
	} else {
		r.journal, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "riskdex.db"), journal.Options{Log: log})
	}
	must(t, err)
	t.Cleanup(func() { must(t, r.journal.Close()) })
	set := p.set
	if set == nil {
		set, err = mappings.Builtin()
		must(t, err)
	}
	if p.documents == nil {
		p.documents = set
	}
	var j indexer.Journal = r.journal
	if p.journal != nil {
		j = p.journal(r.journal)
	}
	if p.prefix == "" {
		p.prefix = elastictest.Prefix(t)
	}
	r.indices = &indices.Indices{Client: client, Prefix: p.prefix, Set: set, Line: r.journal.Line(), Log: log}
	r.indexer, err = indexer.New(cfg, j, p.documents, r.indices, client, r.reg, log)
	must(t, err)
	return r
}

// setWith returns the built-in mappings with an index.json of the test's own.
func setWith(t *testing.T, indexJSON string) *mappings.Set {
	t.Helper()
	folder := fstest.MapFS{"index.json": {Data: []byte(indexJSON)}}
	for _, name := range []string{"cities.json", "advisories.json", "special-reports.json", "search.json", "complete.json", "countries.json", "threats.json"} {
		data, err := fs.ReadFile(mappings.Files(), name)
		must(t, err)
		folder[name] = &fstest.MapFile{Data: data}
	}
	set, err := mappings.Load(folder)
	must(t, err)
	return set
}

// asDelivered sends the bodies themselves.
type asDelivered struct{ *mappings.Set }

func (asDelivered) AppendDocument(dst []byte, c report.Change) ([]byte, []string, error) {
	return append(dst, c.Body...), nil, nil
}

// start makes a rig and runs it.
func start(t *testing.T, cfg indexer.Config) *rig {
	t.Helper()
	r := assemble(t, cfg)
	r.run()
	return r
}

// run runs the indexer until stop, which checks that the sums agree and that no
// series was born meanwhile.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	before := r.scraped()
	go func() { done <- r.indexer.Run(ctx) }()
	stopped := false
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		must(r.t, <-done)
		after := r.scraped()
		if err := after.Conserved(); err != nil {
			r.t.Errorf("when the indexer has stopped: %v", err)
		}
		if born := after.Born(before); len(born) > 0 {
			r.t.Errorf("series that were not there from the start: %v", born)
		}
	}
	r.t.Cleanup(r.stop)
}

func (r *rig) fail(f fault) { r.fault.Store(&f) }
func (r *rig) heal()        { r.fault.Store(nil) }

func (r *rig) append(changes ...report.Change) {
	r.t.Helper()
	_, err := r.journal.Append(r.t.Context(), report.Delivery{Changes: changes})
	must(r.t, err)
}

func index(kind report.Kind, id, body string) report.Change {
	return report.Change{Key: report.Key{Kind: kind, ID: report.ID(id)}, Op: report.Index, Body: []byte(body)}
}

func remove(kind report.Kind, id string) report.Change {
	return report.Change{Key: report.Key{Kind: kind, ID: report.ID(id)}, Op: report.Delete}
}

// many returns n documents of a kind.
func many(kind report.Kind, n int, text string) []report.Change {
	var all []report.Change
	for i := range n {
		all = append(all, index(kind, fmt.Sprint(i), fmt.Sprintf(`{"id":%d,"title":"number %d","text":%q}`, i, i, text)))
	}
	return all
}

func (r *rig) stats() report.Stats {
	r.t.Helper()
	stats, err := r.journal.Stats(context.Background())
	must(r.t, err)
	return stats
}

// drained waits until nothing of the kinds waits any longer, and checks that
// the sums agree.
func (r *rig) drained(kinds ...report.Kind) {
	r.t.Helper()
	if len(kinds) == 0 {
		kinds = report.Kinds()
	}
	r.eventually("nothing is pending", func() bool {
		for _, kind := range kinds {
			if k := r.stats().Kinds[kind]; k.Pending > 0 || k.Resending > 0 {
				return false
			}
		}
		return true
	})
	if err := r.scraped().Conserved(); err != nil {
		r.t.Error(err)
	}
}

// eventually waits for what is to become true by itself. Its bound is no
// measure of speed, only of patience.
func (r *rig) eventually(what string, ok func() bool) {
	r.t.Helper()
	r.within(time.Minute, what, ok)
}

func (r *rig) within(patience time.Duration, what string, ok func() bool) {
	r.t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			r.t.Fatalf("not within %v: %s; %+v", patience, what, r.stats())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// ask sends a request to Elasticsearch itself and returns what it answers.
func (r *rig) ask(method, path, body string) (int, map[string]any) {
	r.t.Helper()
	status, text := elastictest.Ask(r.t, method, r.direct+path, body)
	var answer map[string]any
	if len(text) > 0 {
		must(r.t, json.Unmarshal(text, &answer))
	}
	return status, answer
}

// change is ask for requests that must succeed.
func (r *rig) change(method, path, body string) {
	r.t.Helper()
	if status, answer := r.ask(method, path, body); status >= 300 {
		r.t.Fatalf("%s %s: %d %v", method, path, status, answer)
	}
}

// document returns the source of a document as it was delivered, or nil.
func (r *rig) document(kind report.Kind, id string) map[string]any {
	r.t.Helper()
	status, answer := r.ask("GET", "/"+r.indices.Alias(kind)+"/_doc/"+url.PathEscape(id), "")
	if status != http.StatusOK {
		return nil
	}
	return answer["_source"].(map[string]any)["source"].(map[string]any)
}

// count returns how many documents there are, and makes them visible.
func (r *rig) count(kind report.Kind) int {
	r.t.Helper()
	r.change("POST", "/"+r.indices.Alias(kind)+"/_refresh", "")
	return r.visible(kind)
}

// cities checks how many cities are in the index, and how many are dead letters.
func (r *rig) cities(documents, dead int) {
	r.t.Helper()
	if n := r.count(report.Cities); n != documents {
		r.t.Errorf("%d documents, want %d", n, documents)
	}
	if n := r.stats().Kinds[report.Cities].DeadLetters; n != dead {
		r.t.Errorf("%d dead letters, want %d", n, dead)
	}
}

// metric returns the sum of a metric over the series that have all of labels.
func (r *rig) metric(name string, labels ...string) float64 {
	r.t.Helper()
	families, err := r.reg.Gather()
	must(r.t, err)
	sum := 0.0
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
	series:
		for _, m := range family.GetMetric() {
			have := map[string]string{}
			for _, l := range m.GetLabel() {
				have[l.GetName()] = l.GetValue()
			}
			for i := 0; i < len(labels); i += 2 {
				if have[labels[i]] != labels[i+1] {
					continue series
				}
			}
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
