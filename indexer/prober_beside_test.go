package indexer_test

import (
	"testing"

	"riskdex/indexer/verify"
	"riskdex/report"
)

// TestProbeHoldsUpNoContent: with a single worker for content, an index of the
// probe that does not answer is no concern of the others.
func TestProbeHoldsUpNoContent(t *testing.T) {
	cfg := probed()
	cfg.Workers = 1
	r := start(t, cfg)
	p := r.probe(often())
	p.finds(1)
	testHanging(t, r, report.Probe, func() {
		r.eventually("a probe hangs", func() bool { return r.probeStats().Pending == 1 && p.unsearchable() > 0 })
		for _, kind := range report.Kinds() {
			r.append(many(kind, 20, "text")...)
		}
		r.drained(report.Kinds()...)
	})
	p.finds(1)
}

// TestContentHoldsUpNoProbe: the probe measures the way, and not what stands in it
// of another kind.
func TestContentHoldsUpNoProbe(t *testing.T) {
	cfg := probed()
	cfg.Workers = 1
	r := start(t, cfg)
	r.drained()
	p := r.probe(often())
	p.finds(1)
	testHanging(t, r, report.Cities, func() {
		r.append(many(report.Cities, 20, "text")...)
		p.finds(2)
		if r.stats().Kinds[report.Cities].Pending == 0 {
			t.Error("the cities do not hang")
		}
	})
	r.drained()
}

// TestContentIsLookedAfterBesideTheProbe: verify and rebuild go by the documents of
// their kind.
func TestContentIsLookedAfterBesideTheProbe(t *testing.T) {
	cfg := rebuilding()
	cfg.Probe = true
	r := start(t, cfg)
	r.append(many(report.Cities, 50, "text")...)
	r.drained()
	p := r.probe(often())
	must(t, r.indexer.Rebuild(report.Cities))
	p.finds(2)
	r.eventually("the cities were rebuilt", func() bool { return r.status().Phase == report.PhaseDone })
	if n := r.count(report.Cities); n != 50 {
		t.Errorf("%d cities, want 50", n)
	}
	for _, kind := range report.Kinds() {
		got, err := r.verifier(quickVerify()).Verify(t.Context(), kind, verify.Options{})
		must(t, err)
		if got.Missing+got.Stale+got.Foreign != 0 {
			t.Errorf("%s: %+v", kind, got)
		}
	}
	for _, b := range r.indexer.Rebuilds() {
		if b.Kind == report.Probe {
			t.Errorf("people are told of %+v", b)
		}
	}
	p.finds(1)
}
