package indexer_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/indexer/probe"
	"riskdex/mappings"
	"riskdex/report"
)

func TestProbeIsFound(t *testing.T) {
	r := start(t, probed())
	r.append(many(report.Cities, 10, "text")...)
	p := r.probe(often())
	p.finds(3)
	p.stop()
	var k report.KindStats
	r.eventually("all probes are settled, one that was being accepted at the stop too", func() bool {
		k = r.probeStats()
		return k.Settled[report.Indexed]+k.Settled[report.Superseded] == k.Accepted[report.Index]
	})
	r.drained(report.AllKinds()...)
	if k.Accepted[report.Index] < 3 || k.DeadLetters != 0 {
		t.Errorf("the journal's sums of the probe are %+v", k)
	}
	if n := r.count(report.Probe); n != 1 {
		t.Errorf("%d documents in the index, want always the same one", n)
	}
	if entries, err := r.journal.Entries(t.Context(), report.Probe, "", 10); err != nil || len(entries) != 1 {
		t.Errorf("%d documents in the journal, %v; want always the same one", len(entries), err)
	}
	if r.metric("riskdex_settle_seconds", "kind", "probe") == 0 {
		t.Error("the metrics of the indexer do not know the probe")
	}
	if n := r.stats().Kinds[report.Cities].Accepted[report.Index]; n != 10 {
		t.Errorf("%d cities accepted, want 10: the probe is no city", n)
	}
}

// TestProbeSeesWhatLagDoesNot: Elasticsearch takes everything and shows nothing.
func TestProbeSeesWhatLagDoesNot(t *testing.T) {
	cfg := probed()
	cfg.RefreshShare = 0
	r := start(t, cfg)
	first := r.probe(once())
	first.rested()
	first.stop()
	index := "/" + r.indices.Index(report.Probe, 1)
	r.change("PUT", index+"/_settings", `{"index.refresh_interval":"-1"}`)
	taken := r.probeStats().Settled[report.Indexed]
	p := r.probe(once())
	r.eventually("the index has taken the probe", func() bool { return r.probeStats().Settled[report.Indexed] > taken })
	r.drained(report.AllKinds()...)
	before := p.unsearchable()
	p.eventually("its age grows", func() bool { return p.unsearchable() > before && before > 0 })
	if n := p.found(); n != 0 {
		t.Fatalf("found %d times, although no refresh has made it visible", n)
	}
	r.change("POST", index+"/_refresh", "")
	p.rested()
}

func TestProbeComesBackWithItsIndex(t *testing.T) {
	r := start(t, probed())
	p := r.probe(often())
	p.finds(1)
	r.change("DELETE", "/"+r.indices.Index(report.Probe, 1), "")
	p.finds(2)
	p.stop()
	r.drained(report.AllKinds()...)
	if n := r.count(report.Probe); n != 1 {
		t.Errorf("%d documents, want 1", n)
	}
}

// refusingProbe makes no document of the probe while it is told to.
type refusingProbe struct {
	*mappings.Set
	now *atomic.Bool
}

func (d refusingProbe) AppendDocument(dst []byte, c report.Change) ([]byte, []string, error) {
	if c.Kind == report.Probe && d.now.Load() {
		return dst, nil, fmt.Errorf("refused by the test")
	}
	return d.Set.AppendDocument(dst, c)
}

// TestLostProbeIsWrittenAgain: a version that is never found, such as a dead letter,
// does not end the probing.
func TestLostProbeIsWrittenAgain(t *testing.T) {
	set, err := mappings.Builtin()
	must(t, err)
	refuse := new(atomic.Bool)
	refuse.Store(true)
	r := assembleOf(t, probed(), parts{documents: refusingProbe{set, refuse}})
	r.run()
	p := r.probe(probe.Config{Every: 24 * time.Hour, Again: 20 * time.Millisecond})
	r.eventually("it is dead, and written again, and dead", func() bool { return r.probeStats().Settled[report.Dead] >= 2 })
	if p.found() != 0 || p.unsearchable() == 0 {
		t.Errorf("found %d times, unsearchable for %v", p.found(), p.unsearchable())
	}
	refuse.Store(false)
	p.rested()
	if n := p.found(); n != 1 {
		t.Errorf("%d measurements of one probe", n)
	}
}

// TestProbeIsHidden: nobody meets it who does not ask for it by its name.
func TestProbeIsHidden(t *testing.T) {
	r := start(t, probed())
	r.append(many(report.Cities, 3, "text")...)
	p := r.probe(once())
	p.rested()
	r.drained()
	r.count(report.Cities) // makes them visible
	sees := func(when string) {
		t.Helper()
		prefix := r.indices.Prefix
		for _, where := range []string{"/" + prefix + "*", "/" + prefix + "p*", "/*", "/_all", ""} {
			_, answer := r.ask("POST", where+"/_search?ignore_unavailable=true", `{"size":10,"query":{"ids":{"values":["probe"]}}}`)
			if text := asJSON(t, answer); strings.Contains(text, prefix+"probe") {
				t.Errorf("%s, a search of %q finds the probe: %s", when, where, text)
			}
		}
		if _, answer := r.ask("POST", "/"+prefix+"*/_count", ""); answer["count"] != 3.0 {
			t.Errorf("%s, a search of everything counts %v, want 3 cities", when, answer["count"])
		}
		for _, where := range []string{"/_cat/indices/" + prefix + "*?h=index&format=json", "/_cat/indices?h=index&format=json"} {
			if text := r.get(where); strings.Contains(text, prefix+"probe") {
				t.Errorf("%s, %s lists the probe", when, where)
			}
		}
	}
	sees("at first")
	if text := r.get("/_cat/indices/" + r.indices.Prefix + "*?h=index&format=json&expand_wildcards=all"); !strings.Contains(text, "probe") {
		t.Fatalf("the index of the probe is not where this test looks: %s", text)
	}
	must(t, r.indexer.Rebuild(report.Probe))
	r.eventually("the index was rebuilt", func() bool {
		status, _ := r.ask("GET", "/"+r.indices.Index(report.Probe, 2), "")
		return status == http.StatusOK && r.metric("riskdex_rebuilds_total", "kind", "probe", "outcome", "done") == 1
	})
	sees("after a rebuild")
	r.change("POST", "/_aliases", fmt.Sprintf(`{"actions":[{"remove":{"index":%q,"alias":%q}}]}`, r.indices.Index(report.Probe, 2), r.indices.Alias(report.Probe)))
	r.eventually("the alias is back", func() bool {
		status, _ := r.ask("GET", "/_alias/"+r.indices.Alias(report.Probe), "")
		return status == http.StatusOK
	})
	sees("after the alias was lost")
}

func (r *rig) get(path string) string {
	r.t.Helper()
	res, err := http.Get(r.direct + path)
	must(r.t, err)
	defer res.Body.Close()
	var list []any
	must(r.t, json.NewDecoder(res.Body).Decode(&list))
	return asJSON(r.t, list)
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}
