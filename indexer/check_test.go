package indexer_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/testkit/indexertest"
	"riskdex/report"
)

// TestLostIndexIsNoticedOnABusyLane: every commit wakes all lanes, including those of
// other kinds and of the probe, and each wake-up may come before an idle check is due.
func TestLostIndexIsNoticedOnABusyLane(t *testing.T) {
	t.Parallel()
	cfg := indexertest.Quick()
	cfg.Probe = true
	cfg.CheckEvery = 500 * time.Millisecond
	lost := func(r *rig) { r.Change("DELETE", "/"+r.Indices.Index(report.Cities, 1), "") }
	for name, c := range map[string]struct {
		kind  report.Kind
		every time.Duration // a change of that kind
		lose  func(r *rig)
	}{
		"deleted, changes of another kind":       {report.Advisories, cfg.CheckEvery / 5, lost},
		"deleted, a probe":                       {report.Probe, cfg.CheckEvery * 2 / 3, lost},
		"replaced under its name, changes of it": {report.Cities, cfg.CheckEvery / 5, (*rig).replaceIndex},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, cfg)
			r.Append(indexertest.Many(report.Cities, 30, "text")...)
			r.Drained()
			c.lose(r)
			for i := 0; r.Document(report.Cities, "29") == nil; i++ {
				if time.Duration(i)*c.every > 20*cfg.CheckEvery {
					t.Fatal("the lost index was not noticed")
				}
				r.Append(indexertest.Index(c.kind, "1", fmt.Sprintf(`{"n":%d}`, i)))
				time.Sleep(c.every)
			}
			r.Drained()
			if n := r.Count(report.Cities); n != 30 {
				t.Errorf("%d documents of 30", n)
			}
		})
	}
}

// replaceIndex replaces the index of cities by an empty one with the same name and
// aliases, as a restore would.
func (r *rig) replaceIndex() {
	r.T.Helper()
	r.awaitIndexCheck() // until then, riskdex knows a new index only by its name
	name := r.Indices.Index(report.Cities, 1)
	_, answer := r.Ask("GET", "/"+name, "")
	var aliases []string
	for alias, state := range answer[name].(map[string]any)["aliases"].(map[string]any) {
		_, written := state.(map[string]any)["is_write_index"]
		aliases = append(aliases, fmt.Sprintf(`%q:{"is_write_index":%v}`, alias, written))
	}
	r.Change("DELETE", "/"+name, "")
	r.Change("PUT", "/"+name, `{"aliases":{`+strings.Join(aliases, ",")+`}}`)
}

// awaitIndexCheck waits for the next check of the index of cities.
func (r *rig) awaitIndexCheck() {
	var checks atomic.Int64
	r.Fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		next.ServeHTTP(w, req)
		if strings.HasPrefix(req.URL.Path, "/"+r.Indices.Alias(report.Cities)+"-v*,") {
			checks.Add(1)
		}
	})
	r.Eventually("the index is checked", func() bool { return checks.Load() > 1 })
	r.Heal()
}

// TestIndexChecksShowThatElasticsearchIsBack: while nothing is delivered, the checks are
// the only requests.
func TestIndexChecksShowThatElasticsearchIsBack(t *testing.T) {
	t.Parallel()
	r := start(t, indexertest.Quick())
	r.Append(indexertest.Many(report.Cities, 1, "text")...)
	r.Drained()
	r.away()
	r.Heal()
	r.Eventually("no index waits", func() bool { return len(r.Indexer.Waiting()) == 0 })
	r.Eventually("Elasticsearch is shown as up", r.Indexer.ElasticsearchUp)
}
