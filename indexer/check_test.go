package indexer_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/report"
)

// TestLostIndexIsNoticedThoughTheLaneIsNeverQuiet: every commit wakes all lanes,
// of other kinds and of the probe too, and each may come before an idle look is due.
func TestLostIndexIsNoticedThoughTheLaneIsNeverQuiet(t *testing.T) {
	cfg := quick()
	cfg.Probe = true
	cfg.CheckEvery = 500 * time.Millisecond
	lost := func(r *rig) { r.change("DELETE", "/"+r.indices.Index(report.Cities, 1), "") }
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
			r.append(many(report.Cities, 30, "text")...)
			r.drained()
			c.lose(r)
			for i := 0; r.document(report.Cities, "29") == nil; i++ {
				if time.Duration(i)*c.every > 20*cfg.CheckEvery {
					t.Fatal("not noticed")
				}
				r.append(index(c.kind, "1", fmt.Sprintf(`{"n":%d}`, i)))
				time.Sleep(c.every)
			}
			r.drained()
			if n := r.count(report.Cities); n != 30 {
				t.Errorf("%d documents of 30", n)
			}
		})
	}
}

// replaceIndex puts an empty index with the same name and aliases in the place of
// the one of cities, as a restore would.
func (r *rig) replaceIndex() {
	r.t.Helper()
	r.awaitLook() // a new one is known by its name alone until then
	name := r.indices.Index(report.Cities, 1)
	_, answer := r.ask("GET", "/"+name, "")
	var aliases []string
	for alias, state := range answer[name].(map[string]any)["aliases"].(map[string]any) {
		_, written := state.(map[string]any)["is_write_index"]
		aliases = append(aliases, fmt.Sprintf(`%q:{"is_write_index":%v}`, alias, written))
	}
	r.change("DELETE", "/"+name, "")
	r.change("PUT", "/"+name, `{"aliases":{`+strings.Join(aliases, ",")+`}}`)
}

// awaitLook waits until the index of cities is looked at once more.
func (r *rig) awaitLook() {
	var looks atomic.Int64
	r.fail(func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		next.ServeHTTP(w, req)
		if strings.HasPrefix(req.URL.Path, "/"+r.indices.Alias(report.Cities)+"-v*,") {
			looks.Add(1)
		}
	})
	r.eventually("the index is looked at", func() bool { return looks.Load() > 1 })
	r.heal()
}

// TestLooksShowThatElasticsearchIsBack: where nothing is delivered they are all that
// it is asked.
func TestLooksShowThatElasticsearchIsBack(t *testing.T) {
	r := start(t, quick())
	r.append(many(report.Cities, 1, "text")...)
	r.drained()
	r.fail(func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) })
	r.eventually("it is seen to be away", func() bool { return !r.indexer.ElasticsearchUp() })
	r.heal()
	r.eventually("no index waits", func() bool { return len(r.indexer.Waiting()) == 0 })
	r.eventually("it is shown as up", r.indexer.ElasticsearchUp)
}
