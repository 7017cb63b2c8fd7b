package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"riskdex/journal"
	"riskdex/report"
)

// body4K is a document of typical size.
func body4K() []byte { return append(append([]byte{'"'}, bytes.Repeat([]byte("x"), 4094)...), '"') }

// BenchmarkAppend measures durable appends of one 4 KB document each, over 10,000
// documents.
func BenchmarkAppend(b *testing.B) {
	for _, senders := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("senders=%d", senders), func(b *testing.B) {
			j := openBench(b)
			body := body4K()
			var next atomic.Int64
			var wg sync.WaitGroup
			b.SetBytes(int64(len(body)))
			b.ResetTimer()
			for range senders {
				wg.Go(func() {
					for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
						key := report.Key{Kind: report.Advisories, ID: report.ID(fmt.Sprint(n * 7919 % 10000))}
						d := report.Delivery{Changes: []report.Change{{Key: key, Op: report.Index, Body: body}}}
						if _, err := j.Append(context.Background(), d); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "puts/s")
		})
	}
}

// BenchmarkAppendBesideRefusals measures the cost of looking for the refusals that a
// change clears.
func BenchmarkAppendBesideRefusals(b *testing.B) {
	for _, kept := range []int{0, 1, 10_000} {
		b.Run(fmt.Sprintf("kept=%d", kept), func(b *testing.B) {
			j := openBench(b)
			ctx := context.Background()
			var d report.Delivery
			for i := range kept {
				d.Refusals = append(d.Refusals, report.Refusal{Kind: report.Advisories, ID: fmt.Sprint("refused", i), Body: []byte("{")})
			}
			if _, err := j.Append(ctx, d); err != nil {
				b.Fatal(err)
			}
			body := body4K()
			b.ResetTimer()
			for n := 0; n < b.N; {
				d = report.Delivery{}
				for ; n < b.N && len(d.Changes) < 1000; n++ {
					key := report.Key{Kind: report.Advisories, ID: report.ID(fmt.Sprint(n * 7919 % 10000))}
					d.Changes = append(d.Changes, report.Change{Key: key, Op: report.Index, Body: body})
				}
				if _, err := j.Append(ctx, d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkClaimSettle measures Claim and Settle together, 500 changes at a time.
func BenchmarkClaimSettle(b *testing.B) {
	j := openBench(b)
	ctx := context.Background()
	for n := 0; n < b.N; {
		var d report.Delivery
		for ; n < b.N && len(d.Changes) < 1000; n++ {
			key := report.Key{Kind: report.Advisories, ID: report.ID(fmt.Sprint(n))}
			d.Changes = append(d.Changes, report.Change{Key: key, Op: report.Index, Body: body4K()})
		}
		if _, err := j.Append(ctx, d); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				changes, err := j.Claim(ctx, report.Advisories, 500, 8<<20)
				if err != nil || len(changes) == 0 {
					if err != nil {
						b.Error(err)
					}
					return
				}
				var s []report.Settlement
				for _, c := range changes {
					s = append(s, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed})
				}
				if err := j.Settle(ctx, s); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "changes/s")
}

func openBench(b *testing.B) *Journal {
	j, err := Open(context.Background(), filepath.Join(b.TempDir(), "journal.db"), journal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := j.Close(); err != nil {
			b.Error(err)
		}
	})
	return j
}
