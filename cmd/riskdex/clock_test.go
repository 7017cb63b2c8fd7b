package main

import (
	"testing"
	"time"
)

// TestMetricsTellTheTime at each scrape anew, for Prometheus to compare it with its own.
func TestMetricsTellTheTime(t *testing.T) {
	p := newProcess(t, "http://127.0.0.1:1", "--probe-every", "0")
	p.start()
	for range 2 {
		before := time.Now()
		told := time.UnixMicro(int64(p.metrics()["riskdex_clock_timestamp_seconds"] * 1e6))
		if after := time.Now(); told.Before(before.Add(-time.Millisecond)) || told.After(after.Add(time.Millisecond)) {
			t.Errorf("between %v and %v the metrics told %v", before, after, told)
		}
	}
}
