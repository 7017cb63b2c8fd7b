package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"riskdex/admin"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
)

const probesFound, probeAge = "riskdex_searchable_seconds_count", "riskdex_probe_unsearchable_seconds"

// probeIndices returns how many indices the probe has.
func (p *process) probeIndices() int {
	p.t.Helper()
	var found map[string]any
	p.ask("GET", "/"+p.prefix+"probe*?expand_wildcards=all", "", &found)
	return len(found)
}

// TestProbeIsMeasured: a whole riskdex finds what it writes. Its metrics say so, and nobody
// who asks for documents sees the probe.
func TestProbeIsMeasured(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "10ms")
	p.start()
	p.send("PUT", "/cities/1", `{"title":"x"}`)
	p.drained()
	eventually(t, "probes are found", func() bool { return p.metrics()[probesFound] >= 2 })
	m := p.metrics()
	if _, shown := m[probeAge]; !shown {
		t.Errorf("/metrics has no %s", probeAge)
	}
	if n := sum(m, "riskdex_changes_accepted_total"); n != 1 {
		t.Errorf("%v changes of content accepted, want 1", n)
	}
	accepted := sumOfProbe(m, "riskdex_changes_accepted_total")
	if accepted < 2 {
		t.Errorf("%v probes accepted, and %v found", accepted, m[probesFound])
	}
	p.conserved()
	if n := p.probeIndices(); n != 1 {
		t.Errorf("the probe has %d indices", n)
	}
	var st admin.Status
	require.NoError(t, json.Unmarshal([]byte(p.expect(exitDone, "", words("status --json")).out), &st))
	for _, k := range st.Kinds {
		if k.Kind == "probe" || k.Kind == "cities" && k.Documents != nil && *k.Documents > 1 {
			t.Errorf("the status has the troubles %+v", k)
		}
	}
	p.kill()
	p.start()
	eventually(t, "probes are found after a kill", func() bool { return p.metrics()[probesFound] >= 1 })
	if n := sumOfProbe(p.metrics(), "riskdex_changes_accepted_total"); n <= accepted {
		t.Errorf("%v probes accepted over the life of the journal, and %v before the kill", n, accepted)
	}
	p.conserved()
}

// TestProbeCanBeTurnedOff: there is then no index of the probe, and no metric that could be
// mistaken for a measurement.
func TestProbeCanBeTurnedOff(t *testing.T) {
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	p.start()
	p.send("PUT", "/cities/1", `{"title":"x"}`)
	p.drained()
	m := p.metrics()
	for _, name := range []string{probesFound, probeAge} {
		if v, shown := m[name]; shown {
			t.Errorf("%s is %v", name, v)
		}
	}
	if n := p.probeIndices() + int(sumOfProbe(m, "riskdex_changes_accepted_total")); n != 0 {
		t.Errorf("%d indices and probes", n)
	}
	var out, errs bytes.Buffer
	if status := run(t.Context(), []string{"serve", "--probe-every=-1s", "--journal", t.TempDir() + "/j.db"}, streams{&out, &errs}); status != exitFailed ||
		!strings.Contains(errs.String(), "-1s") {
		t.Errorf("a negative time: status %d, %s", status, errs.String())
	}
}
