package histogram_test

import (
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/internal/histogram"
)

func TestClassicBuckets(t *testing.T) {
	if got, want := histogram.Seconds("a", "b", 5*time.Millisecond, time.Second).Buckets, []float64{.005, .01, .025, .05, .1, .25, .5, 1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	all := histogram.Seconds("a", "b", 0, 365*24*time.Hour).Buckets
	if !slices.IsSorted(all) || all[0] > .001 || all[len(all)-1] < 3600 {
		t.Errorf("the ladder does not lead from milliseconds to hours: %v", all)
	}
	if got, want := histogram.Counts("a", "b", 9).Buckets, []float64{1, 2, 4, 8, 16}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestNativeBucketsAreBounded observes far more distinct values than there may be buckets.
func TestNativeBucketsAreBounded(t *testing.T) {
	h := prometheus.NewHistogram(histogram.Seconds("a", "b", time.Millisecond, time.Hour))
	reg := prometheus.NewRegistry()
	reg.MustRegister(h)
	const values = 10_000
	at := 1e-6
	for range values {
		h.Observe(at)
		at *= 1.01
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := families[0].GetMetric()[0].GetHistogram()
	if n := len(got.GetPositiveDelta()); n == 0 || n > 200 || got.GetSampleCount() != values {
		t.Errorf("%d native buckets for %d values", n, got.GetSampleCount())
	}
}
