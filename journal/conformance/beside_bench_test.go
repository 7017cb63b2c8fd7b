package conformance

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/journal"
	"riskdex/report"
)

// tiny returns a delivery of n records of 12 bytes each.
func tiny(kind report.Kind, from, n int, code bool) report.Delivery {
	var d report.Delivery
	for i := range n {
		c := report.Change{
			Key: report.Key{Kind: kind, ID: report.ID(fmt.Sprint(from + i))}, Op: report.Index,
			OwnID: report.ID(fmt.Sprint(from + i)), Body: fmt.Appendf(nil, `{"id":%d}`, from+i),
		}
		if code {
			c.Code = journaltest.Code(from + i)
		}
		d.Changes = append(d.Changes, c)
	}
	return d
}

// BenchmarkTiny measures a delivery of 100,000 tiny records, new ones and known ones.
func BenchmarkTiny(b *testing.B) {
	benchmarkEngines(b, func(b *testing.B, open func(journal.Options) journal.Journal) {
		j := open(journal.Options{})
		fresh := 10_000_000
		for _, kind := range []report.Kind{report.Advisories, report.Cities} {
			for _, code := range []bool{false, true} {
				if code && kind != report.Cities {
					continue
				}
				for _, known := range []bool{false, true} {
					b.Run(fmt.Sprintf("%s/code=%t/known=%t", kind, code, known), func(b *testing.B) {
						d := tiny(kind, 1_000_000, 100_000, code)
						if known {
							if _, err := j.Append(context.Background(), d); err != nil {
								b.Fatal(err)
							}
						}
						var cpu time.Duration
						for b.Loop() {
							if !known {
								b.StopTimer()
								fresh += 100_000
								d = tiny(kind, fresh, 100_000, code)
								b.StartTimer()
							}
							start := journaltest.CPUTime(b)
							if _, err := j.Append(context.Background(), d); err != nil {
								b.Fatal(err)
							}
							cpu += journaltest.CPUTime(b) - start
						}
						b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/op")
					})
				}
			}
		}
	})
}

// BenchmarkBeside measures the longest wait of a small delivery beside seven of 100,000
// records each.
func BenchmarkBeside(b *testing.B) {
	benchmarkEngines(b, func(b *testing.B, open func(journal.Options) journal.Journal) {
		j := open(journal.Options{})
		var large []report.Delivery
		for i := range 7 {
			large = append(large, tiny(report.Cities, i*100_000, 100_000, true))
		}
		var worst time.Duration
		for b.Loop() {
			var wg sync.WaitGroup
			ended := make(chan struct{})
			for _, d := range large {
				wg.Go(func() {
					if _, err := j.Append(context.Background(), d); err != nil {
						b.Error(err)
					}
				})
			}
			go func() { wg.Wait(); close(ended) }()
			n := 0
			for on := true; on; {
				select {
				case <-ended:
					on = false
				case <-time.After(50 * time.Millisecond):
					start := time.Now()
					if _, err := j.Append(context.Background(), journaltest.Put("x", "{}")); err != nil {
						b.Error(err)
					}
					worst = max(worst, time.Since(start))
					n++
				}
			}
			b.Logf("%d small deliveries", n)
		}
		b.ReportMetric(worst.Seconds(), "worst-s")
	})
}
