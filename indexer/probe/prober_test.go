package probe_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/indexer/probe"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/mappings"
	"riskdex/report"
)

func TestProbeIsFound(t *testing.T) {
	r := indexertest.Start(t, indexertest.Probed())
	r.Append(indexertest.Many(report.Cities, 10, "text")...)
	p := r.Probe(indexertest.Often())
	p.Finds(3)
	p.Stop()
	var k report.KindStats
	r.Eventually("all probes are settled, one that was being accepted at the stop too", func() bool {
		k = r.ProbeStats()
		return k.Settled[report.Indexed]+k.Settled[report.Superseded] == k.Accepted[report.Index]
	})
	r.Drained(report.AllKinds()...)
	if k.Accepted[report.Index] < 3 || k.DeadLetters != 0 {
		t.Errorf("the journal's sums of the probe are %+v", k)
	}
	if n := r.Count(report.Probe); n != 1 {
		t.Errorf("%d documents in the index, want always the same one", n)
	}
	if entries, err := r.Journal.Entries(t.Context(), report.Probe, "", 10); err != nil || len(entries) != 1 {
		t.Errorf("%d documents in the journal, %v; want always the same one", len(entries), err)
	}
	if r.Metric("riskdex_settle_seconds", "kind", "probe") == 0 {
		t.Error("the metrics of the indexer do not know the probe")
	}
	if n := r.Stats().Kinds[report.Cities].Accepted[report.Index]; n != 10 {
		t.Errorf("%d cities accepted, want 10: the probe is no city", n)
	}
}

// TestProbeSeesWhatLagDoesNot: Elasticsearch accepts everything, and searches find
// nothing.
func TestProbeSeesWhatLagDoesNot(t *testing.T) {
	cfg := indexertest.Probed()
	cfg.RefreshShare = 0
	r := indexertest.Start(t, cfg)
	first := r.Probe(indexertest.Once())
	first.Rested()
	first.Stop()
	index := "/" + r.Indices.Index(report.Probe, 1)
	r.Change("PUT", index+"/_settings", `{"index.refresh_interval":"-1"}`)
	taken := r.ProbeStats().Settled[report.Indexed]
	p := r.Probe(indexertest.Once())
	r.Eventually("the index has taken the probe", func() bool { return r.ProbeStats().Settled[report.Indexed] > taken })
	r.Drained(report.AllKinds()...)
	before := p.Unsearchable()
	p.Eventually("its age grows", func() bool { return p.Unsearchable() > before && before > 0 })
	if n := p.Found(); n != 0 {
		t.Fatalf("found %d times, although no refresh has made it visible", n)
	}
	r.Change("POST", index+"/_refresh", "")
	p.Rested()
}

func TestProbeComesBackWithItsIndex(t *testing.T) {
	r := indexertest.Start(t, indexertest.Probed())
	p := r.Probe(indexertest.Often())
	p.Finds(1)
	r.Change("DELETE", "/"+r.Indices.Index(report.Probe, 1), "")
	p.Finds(2)
	p.Stop()
	r.Drained(report.AllKinds()...)
	if n := r.Count(report.Probe); n != 1 {
		t.Errorf("%d documents, want 1", n)
	}
}

// refusingProbe makes no document of the probe while refusing is set.
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

// TestLostProbeIsWrittenAgain: a version that is never found, such as a dead letter, does
// not end the probing.
func TestLostProbeIsWrittenAgain(t *testing.T) {
	set, err := mappings.Builtin()
	require.NoError(t, err)
	refuse := new(atomic.Bool)
	refuse.Store(true)
	r := indexertest.AssembleOf(t, indexertest.Probed(), indexertest.Parts{Documents: refusingProbe{set, refuse}})
	r.Run()
	p := r.Probe(probe.Config{Every: 24 * time.Hour, Again: 20 * time.Millisecond})
	r.Eventually("it is dead, and written again, and dead", func() bool { return r.ProbeStats().Settled[report.Dead] >= 2 })
	if p.Found() != 0 || p.Unsearchable() == 0 {
		t.Errorf("found %d times, unsearchable for %v", p.Found(), p.Unsearchable())
	}
	refuse.Store(false)
	p.Rested()
	if n := p.Found(); n != 1 {
		t.Errorf("%d measurements of one probe", n)
	}
}

// TestProbeIsHidden from every search that does not name its alias.
func TestProbeIsHidden(t *testing.T) {
	r := indexertest.Start(t, indexertest.Probed())
	r.Append(indexertest.Many(report.Cities, 3, "text")...)
	p := r.Probe(indexertest.Once())
	p.Rested()
	r.Drained()
	r.Count(report.Cities) // makes them visible
	sees := func(when string) {
		t.Helper()
		prefix := r.Indices.Prefix
		for _, where := range []string{"/" + prefix + "*", "/" + prefix + "p*", "/*", "/_all", ""} {
			_, answer := r.Ask("POST", where+"/_search?ignore_unavailable=true", `{"size":10,"query":{"ids":{"values":["probe"]}}}`)
			if text := asJSON(t, answer); strings.Contains(text, prefix+"probe") {
				t.Errorf("%s, a search of %q finds the probe: %s", when, where, text)
			}
		}
		if _, answer := r.Ask("POST", "/"+prefix+"*/_count", ""); answer["count"] != 3.0 {
			t.Errorf("%s, a search of everything counts %v, want 3 cities", when, answer["count"])
		}
		for _, where := range []string{"/_cat/indices/" + prefix + "*?h=index&format=json", "/_cat/indices?h=index&format=json"} {
			if text := get(r, where); strings.Contains(text, prefix+"probe") {
				t.Errorf("%s, %s lists the probe", when, where)
			}
		}
	}
	sees("at first")
	if text := get(r, "/_cat/indices/"+r.Indices.Prefix+"*?h=index&format=json&expand_wildcards=all"); !strings.Contains(text, "probe") {
		t.Fatalf("the index of the probe is not where this test looks: %s", text)
	}
	require.NoError(t, r.Indexer.Rebuild(report.Probe))
	r.Eventually("the index was rebuilt", func() bool {
		status, _ := r.Ask("GET", "/"+r.Indices.Index(report.Probe, 2), "")
		return status == http.StatusOK && r.Metric("riskdex_rebuilds_total", "kind", "probe", "outcome", "done") == 1
	})
	sees("after a rebuild")
	r.Change("POST", "/_aliases", fmt.Sprintf(`{"actions":[{"remove":{"index":%q,"alias":%q}}]}`, r.Indices.Index(report.Probe, 2), r.Indices.Alias(report.Probe)))
	r.Eventually("the alias is back", func() bool {
		status, _ := r.Ask("GET", "/_alias/"+r.Indices.Alias(report.Probe), "")
		return status == http.StatusOK
	})
	sees("after the alias was lost")
}

func get(r *indexertest.Rig, path string) string {
	r.T.Helper()
	res, err := http.Get(r.Direct + path)
	require.NoError(r.T, err)
	defer res.Body.Close()
	var list []any
	require.NoError(r.T, json.NewDecoder(res.Body).Decode(&list))
	return asJSON(r.T, list)
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// TestProbeComparesTheClocks of a journal and of the real Elasticsearch, at once and after a probe
// had to wait.
func TestProbeComparesTheClocks(t *testing.T) {
	for _, c := range []struct {
		name string
		off  time.Duration
		want probe.Clock
	}{
		{"right", 0, probe.ClockAgrees},
		{"a little ahead", probe.ClockBound - 20*time.Second, probe.ClockAgrees},
		{"a little behind", 20*time.Second - probe.ClockBound, probe.ClockAgrees},
		{"ahead", probe.ClockBound + 20*time.Second, probe.ClockAhead},
		{"behind", -probe.ClockBound - 20*time.Second, probe.ClockBehind},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := indexertest.AssembleOf(t, indexertest.Probed(), indexertest.Parts{Now: func() time.Time { return time.Now().Add(c.off) }})
			r.Run()
			p := r.Probe(indexertest.Often())
			p.Finds(2)
			if got := p.Prober.Clock(); got != c.want || p.Metric("riskdex_clock_differs") != float64(c.want) {
				t.Errorf("the clock is said to be %d, want %d; the metric is %v", got, c.want, p.Metric("riskdex_clock_differs"))
			}
		})
	}
}
