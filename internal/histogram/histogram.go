// Package histogram has the options of all histograms that riskdex exposes, so that all of
// them have native buckets besides the classic ones. A test of cmd/riskdex finds one that
// has not.
package histogram

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Native buckets grow by a tenth at most, which is also the precision of a quantile. There
// are eight between a value and its double, so 160 of them reach from a millisecond to a
// quarter of an hour. If more are needed, they become coarser until the next reset, which
// happens after an hour at the earliest, because to Prometheus a reset looks like a
// restart.
const (
	nativeFactor = 1.1
	nativeMost   = 160
	nativeReset  = time.Hour
)

// Seconds returns the options of a histogram of durations. Its classic buckets are those
// bounds of a common list that lie between from and to, inclusive: histograms can be
// compared at the bounds that they have in common.
func Seconds(name, help string, from, to time.Duration) prometheus.HistogramOpts {
	ladder := [...]float64{
		.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30,
		60, 5 * 60, 15 * 60, 3600, 6 * 3600, 24 * 3600,
	}
	var buckets []float64
	for _, bound := range ladder {
		if from.Seconds() <= bound && bound <= to.Seconds() {
			buckets = append(buckets, bound)
		}
	}
	return options(name, help, buckets)
}

// Counts returns the options of a histogram of counts. The bounds of its classic buckets
// double from 1 until one is at least most.
func Counts(name, help string, most int) prometheus.HistogramOpts {
	buckets := []float64{1}
	for last := 1.0; last < float64(most); {
		last *= 2
		buckets = append(buckets, last)
	}
	return options(name, help, buckets)
}

func options(name, help string, buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor:     nativeFactor,
		NativeHistogramMaxBucketNumber:  nativeMost,
		NativeHistogramMinResetDuration: nativeReset,
	}
}
