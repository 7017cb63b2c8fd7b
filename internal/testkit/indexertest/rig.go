package indexertest

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
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/admin"
	"riskdex/elastic"
	"riskdex/indexer"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/metricstest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/postgres"
	"riskdex/journal/sqlite"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// Rig is an indexer between a real journal and a real Elasticsearch, behind a proxy that
// can be made to fail.
type Rig struct {
	T        *testing.T
	Journal  journal.Journal
	Indices  *indices.Indices
	Indexer  *indexer.Indexer
	Registry *prometheus.Registry
	Direct   string // Elasticsearch itself
	Fault    atomic.Pointer[Fault]
	Stop     func()
}

// Fault handles a request to Elasticsearch in any way. next is the real server.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Quick returns a configuration with short waits.
func Quick() indexer.Config {
	cfg := indexer.DefaultConfig()
	cfg.FirstBackoff, cfg.LongestBackoff = 2*time.Millisecond, 50*time.Millisecond
	cfg.CheckEvery, cfg.StopWithin, cfg.DebounceLimit = 50*time.Millisecond, 5*time.Second, time.Millisecond
	return cfg
}

// Parts replace the defaults of a rig.
type Parts struct {
	Elasticsearch string        // the server; by default the one that all tests share
	Client        string        // how the indexer reaches it; by default through the rig's proxy
	Set           *mappings.Set // by default the built-in one
	Journal       func(journal.Journal) indexer.Journal
	Documents     indexer.Documents
	Now           func() time.Time // the clock of a journal in a file
	Postgres      string           // the location of the journal; by default a file of the rig's own
	Prefix        string           // of its indices; by default a new one
	Log           *slog.Logger
}

// Assemble makes a rig whose indexer does not run yet.
func Assemble(t *testing.T, cfg indexer.Config) *Rig {
	t.Helper()
	return AssembleOf(t, cfg, Parts{})
}

// AssembleOf is Assemble with other parts than the defaults.
func AssembleOf(t *testing.T, cfg indexer.Config, p Parts) *Rig {
	t.Helper()
	r := &Rig{T: t, Direct: cmp.Or(p.Elasticsearch, elastictest.URL(t)), Registry: prometheus.NewRegistry(), Stop: func() {}}
	log := cmp.Or(p.Log, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError})))
	target, err := url.Parse(r.Direct)
	require.NoError(t, err)
	real := httputil.NewSingleHostReverseProxy(target)
	real.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if f := r.Fault.Load(); f != nil {
			(*f)(w, req, real)
			return
		}
		real.ServeHTTP(w, req)
	}))
	t.Cleanup(proxy.Close)
	through, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	through.User = target.User
	client, err := elastic.NewClient(elastic.Connection{URL: cmp.Or(p.Client, through.String())})
	require.NoError(t, err)
	if p.Postgres != "" {
		r.Journal, err = postgres.Open(t.Context(), p.Postgres, journal.Options{Log: log})
	} else {
		r.Journal, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "riskdex.db"), journal.Options{Now: p.Now, Log: log})
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Journal.Close()) })
	set := p.Set
	if set == nil {
		set = Plain(t)
	}
	if p.Documents == nil {
		p.Documents = set
	}
	var j indexer.Journal = r.Journal
	if p.Journal != nil {
		j = p.Journal(r.Journal)
	}
	if p.Prefix == "" {
		p.Prefix = elastictest.Prefix(t)
	}
	r.Indices = &indices.Indices{Client: client, Prefix: p.Prefix, Set: set, Lineage: r.Journal.Lineage(), Log: log}
	r.Indexer, err = indexer.New(cfg, j, p.Documents, r.Indices, client, r.Registry, log)
	require.NoError(t, err)
	return r
}

// Plain returns the built-in mappings with [PlainIndex].
func Plain(t *testing.T) *mappings.Set {
	t.Helper()
	return SetWith(t, PlainIndex(t))
}

// PlainIndex returns the built-in index.json whose analyzers are all the standard one, since what they
// do is most of the work that Elasticsearch has with a new index. Documents are made, indexed and refused
// as with the built-in one, and a word is found as it is written; searches are tested in
// mappings/livetest.
func PlainIndex(t *testing.T) string {
	t.Helper()
	text, err := fs.ReadFile(mappings.Files(), "index.json")
	require.NoError(t, err)
	var index map[string]any
	require.NoError(t, json.Unmarshal(text, &index))
	analysis := index["settings"].(map[string]any)["index"].(map[string]any)["analysis"].(map[string]any)
	for part := range analysis {
		plain, is := map[string]string{"analyzer": "standard", "normalizer": "lowercase"}[part]
		if !is {
			delete(analysis, part)
			continue
		}
		named := analysis[part].(map[string]any)
		for name := range named {
			named[name] = map[string]any{"type": plain}
		}
	}
	text, err = json.Marshal(index)
	require.NoError(t, err)
	return string(text)
}

// SetWith returns the built-in mappings with another index.json.
func SetWith(t *testing.T, indexJSON string) *mappings.Set {
	t.Helper()
	folder := fstest.MapFS{"index.json": {Data: []byte(indexJSON)}}
	for _, name := range []string{"cities.json", "advisories.json", "special-reports.json", "search.json", "complete.json", "countries.json", "threats.json"} {
		data, err := fs.ReadFile(mappings.Files(), name)
		require.NoError(t, err)
		folder[name] = &fstest.MapFile{Data: data}
	}
	set, err := mappings.Load(folder)
	require.NoError(t, err)
	return set
}

// AsDelivered makes documents that are the bodies themselves.
type AsDelivered struct{ *mappings.Set }

// AppendDocument implements [indexer.Documents].
func (AsDelivered) AppendDocument(dst []byte, c report.Change) ([]byte, []string, error) {
	return append(dst, c.Body...), nil, nil
}

// See implements [indexer.Documents]: nothing is read of the bodies.
func (AsDelivered) See(report.Kind, []report.Change, bool) (string, bool) { return "", false }

// Start makes a rig and runs it.
func Start(t *testing.T, cfg indexer.Config) *Rig {
	t.Helper()
	r := Assemble(t, cfg)
	r.Run()
	return r
}

// Run runs the indexer until Stop, which checks that the sums agree and that no new
// series appeared meanwhile.
func (r *Rig) Run() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	before := r.Scraped()
	go func() { done <- r.Indexer.Run(ctx) }()
	stopped := false
	r.Stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		require.NoError(r.T, <-done)
		after := r.Scraped()
		if err := after.Conserved(); err != nil {
			r.T.Errorf("when the indexer has stopped: %v", err)
		}
		if born := after.Born(before); len(born) > 0 {
			r.T.Errorf("series that were not there from the start: %v", born)
		}
	}
	r.T.Cleanup(r.Stop)
}

// Fail passes requests to Elasticsearch to f until Heal.
func (r *Rig) Fail(f Fault) { r.Fault.Store(&f) }

// Heal lets requests reach Elasticsearch again.
func (r *Rig) Heal() { r.Fault.Store(nil) }

// Append delivers changes.
func (r *Rig) Append(changes ...report.Change) {
	r.T.Helper()
	_, err := r.Journal.Append(r.T.Context(), report.Delivery{Changes: changes})
	require.NoError(r.T, err)
}

// Index returns a change that indexes a document.
func Index(kind report.Kind, id, body string) report.Change {
	return report.Change{Key: report.Key{Kind: kind, ID: report.ID(id)}, Op: report.Index, Body: []byte(body)}
}

// Delete returns a change that deletes a document.
func Delete(kind report.Kind, id string) report.Change {
	return report.Change{Key: report.Key{Kind: kind, ID: report.ID(id)}, Op: report.Delete}
}

// Many returns n documents of a kind.
func Many(kind report.Kind, n int, text string) []report.Change {
	var all []report.Change
	for i := range n {
		all = append(all, Index(kind, fmt.Sprint(i), fmt.Sprintf(`{"id":%d,"title":"number %d","text":%q}`, i, i, text)))
	}
	return all
}

// Stats returns the totals of the journal.
func (r *Rig) Stats() report.Stats {
	r.T.Helper()
	stats, err := r.Journal.Stats(context.Background())
	require.NoError(r.T, err)
	return stats
}

// Drained waits until no change of the kinds is pending, and checks that the sums agree.
func (r *Rig) Drained(kinds ...report.Kind) {
	r.T.Helper()
	if len(kinds) == 0 {
		kinds = report.Kinds()
	}
	r.Eventually("nothing is pending", func() bool {
		for _, kind := range kinds {
			if k := r.Stats().Kinds[kind]; k.Pending > 0 || k.Resending > 0 {
				return false
			}
		}
		return true
	})
	if err := r.Scraped().Conserved(); err != nil {
		r.T.Error(err)
	}
}

// Eventually waits until ok returns true. Its bound only says when to give up, and is no
// measure of speed.
func (r *Rig) Eventually(what string, ok func() bool) {
	r.T.Helper()
	r.Within(2*time.Minute, what, ok)
}

// Within is Eventually with another bound.
func (r *Rig) Within(timeout time.Duration, what string, ok func() bool) {
	r.T.Helper()
	deadline := time.Now().Add(timeout)
	for !ok() {
		if time.Now().After(deadline) {
			r.T.Fatalf("not within %v: %s; %+v", timeout, what, r.Stats())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Ask sends a request to Elasticsearch itself and returns the answer.
func (r *Rig) Ask(method, path, body string) (int, map[string]any) {
	r.T.Helper()
	status, text := elastictest.Ask(r.T, method, r.Direct+path, body)
	var answer map[string]any
	if len(text) > 0 {
		require.NoError(r.T, json.Unmarshal(text, &answer))
	}
	return status, answer
}

// Change is Ask for requests that must succeed.
func (r *Rig) Change(method, path, body string) {
	r.T.Helper()
	if status, answer := r.Ask(method, path, body); status >= 300 {
		r.T.Fatalf("%s %s: %d %v", method, path, status, answer)
	}
}

// Document returns the source of a document as it was delivered, or nil.
func (r *Rig) Document(kind report.Kind, id string) map[string]any {
	r.T.Helper()
	status, answer := r.Ask("GET", "/"+r.Indices.Alias(kind)+"/_doc/"+url.PathEscape(id), "")
	if status != http.StatusOK {
		return nil
	}
	return answer["_source"].(map[string]any)["source"].(map[string]any)
}

// Count refreshes an index, and returns how many documents a search finds.
func (r *Rig) Count(kind report.Kind) int {
	r.T.Helper()
	r.Change("POST", "/"+r.Indices.Alias(kind)+"/_refresh", "")
	return r.Visible(kind)
}

// WantCities checks how many cities are in the index, and how many are dead letters.
func (r *Rig) WantCities(documents, dead int) {
	r.T.Helper()
	if n := r.Count(report.Cities); n != documents {
		r.T.Errorf("%d documents, want %d", n, documents)
	}
	if n := r.Stats().Kinds[report.Cities].DeadLetters; n != dead {
		r.T.Errorf("%d dead letters, want %d", n, dead)
	}
}

// Metric returns the sum of a metric over the series that have all of labels.
func (r *Rig) Metric(name string, labels ...string) float64 {
	r.T.Helper()
	families, err := r.Registry.Gather()
	require.NoError(r.T, err)
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

// Scraped returns the /metrics of the journal and the indexer.
func (r *Rig) Scraped() metricstest.Samples {
	r.T.Helper()
	books := prometheus.NewRegistry()
	books.MustRegister(admin.NewJournalCollector(r.Journal, nil, time.Now, slog.New(slog.DiscardHandler)))
	answer := httptest.NewRecorder()
	admin.New(admin.Parts{Metrics: prometheus.Gatherers{r.Registry, books}}).
		ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	all, err := metricstest.Read(answer.Body)
	require.NoError(r.T, err)
	return all
}

// Visible returns how many documents a search finds, without a refresh, or -1 if a search
// is not possible: an alias exists before its shard has started, and until then
// Elasticsearch answers a search with 503.
func (r *Rig) Visible(kind report.Kind) int {
	r.T.Helper()
	status, answer := r.Ask("GET", "/"+r.Indices.Alias(kind)+"/_count", "")
	if status != http.StatusOK {
		return -1
	}
	return int(answer["count"].(float64))
}
