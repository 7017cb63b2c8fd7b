package indexer_test

import (
	"net/http"
	"sync"
	"testing"

	"riskdex/indexer/verify"
	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestProbeHoldsUpNoContent: even with a single worker for content, an index of the probe
// that does not answer does not delay content.
func TestProbeHoldsUpNoContent(t *testing.T) {
	t.Parallel()
	cfg := indexertest.Probed()
	cfg.Workers = 1
	r := start(t, cfg)
	p := r.Probe(indexertest.Often())
	p.Finds(1)
	testHanging(t, r, report.Probe, func() {
		r.Eventually("a probe hangs", func() bool { return r.ProbeStats().Pending == 1 && p.Unsearchable() > 0 })
		for _, kind := range report.Kinds() {
			r.Append(indexertest.Many(kind, 20, "text")...)
		}
		r.Drained(report.Kinds()...)
	})
	p.Finds(1)
}

// TestContentHoldsUpNoProbe: the probe measures its own way, whatever blocks that of
// another kind.
func TestContentHoldsUpNoProbe(t *testing.T) {
	t.Parallel()
	cfg := indexertest.Probed()
	cfg.Workers = 1
	r := start(t, cfg)
	r.Drained()
	p := r.Probe(indexertest.Often())
	p.Finds(1)
	testHanging(t, r, report.Cities, func() {
		r.Append(indexertest.Many(report.Cities, 20, "text")...)
		p.Finds(2)
		if r.Stats().Kinds[report.Cities].Pending == 0 {
			t.Error("the cities do not hang")
		}
	})
	r.Drained()
}

// TestVerifyAndRebuildIgnoreTheProbe, and consider only the documents of their kind.
func TestVerifyAndRebuildIgnoreTheProbe(t *testing.T) {
	t.Parallel()
	cfg := rebuilding()
	cfg.Probe = true
	r := start(t, cfg)
	r.Append(indexertest.Many(report.Cities, 50, "text")...)
	r.Drained()
	p := r.Probe(indexertest.Often())
	require.NoError(t, r.Indexer.Rebuild(report.Cities))
	p.Finds(2)
	r.Eventually("the cities were rebuilt", func() bool { return r.status().Phase == report.PhaseDone })
	if n := r.Count(report.Cities); n != 50 {
		t.Errorf("%d cities, want 50", n)
	}
	for _, kind := range report.Kinds() {
		got, err := r.Verifier(indexertest.QuickVerify()).Verify(t.Context(), kind, verify.Options{})
		require.NoError(t, err)
		if got.Missing+got.Stale+got.Foreign != 0 {
			t.Errorf("verification of %s found %+v, want nothing", kind, got)
		}
	}
	for _, b := range r.Indexer.Rebuilds() {
		if b.Kind == report.Probe {
			t.Errorf("the status has rebuilds %+v, want none of the probe", b)
		}
	}
	p.Finds(1)
}

// hangs makes requests that write to an alias wait until the fault ends.
func hangs(alias string) (f indexertest.Fault, end func()) {
	over := make(chan struct{})
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if req.URL.Path == "/"+alias+"/_bulk" {
			<-over
		}
		next.ServeHTTP(w, req)
	}, sync.OnceFunc(func() { close(over) })
}

func testHanging(t *testing.T, r *rig, kind report.Kind, meanwhile func()) {
	t.Helper()
	f, end := hangs(r.Indices.Alias(kind))
	t.Cleanup(end)
	r.Fail(f)
	meanwhile()
	end()
	r.Heal()
}
