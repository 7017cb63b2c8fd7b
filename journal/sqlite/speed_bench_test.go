package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/report"
)

// reportCPU makes a benchmark report the CPU time for each of n things, including that of
// other goroutines: waiting for the disk takes time, but leaves the processors to others.
func reportCPU(b *testing.B, start time.Duration, n int) {
	b.ReportMetric(float64((journaltest.CPUTime(b)-start).Nanoseconds())/1000/float64(n), "cpu-µs/op")
}

// change is the nth update of one of so many documents.
func change(kind report.Kind, n, documents int, body []byte) report.Change {
	return report.Change{Key: report.Key{Kind: kind, ID: report.ID(fmt.Sprint(n % documents))}, Op: report.Index, Body: body}
}

func mustDeliver(b *testing.B, j *Journal, changes ...report.Change) {
	b.Helper()
	if _, err := j.Append(context.Background(), report.Delivery{Changes: changes}); err != nil {
		b.Fatal(err)
	}
}

// fillBench appends n documents, a thousand at a time.
func fillBench(b *testing.B, j *Journal, n int) {
	b.Helper()
	for from := 0; from < n; from += 1000 {
		var list []report.Change
		for i := from; i < min(n, from+1000); i++ {
			list = append(list, change(report.Advisories, i, n, body4K()))
		}
		mustDeliver(b, j, list...)
	}
}

// claimBench claims what is pending, and returns the settlements that end it.
func claimBench(b *testing.B, j *Journal) []report.Settlement {
	changes, err := j.Claim(context.Background(), report.Advisories, 500, 8<<20)
	if err != nil {
		b.Error(err)
	}
	var list []report.Settlement
	for _, c := range changes {
		list = append(list, report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed})
	}
	return list
}

func mustSettle(b *testing.B, j *Journal, list []report.Settlement) {
	if err := j.Settle(context.Background(), list); err != nil {
		b.Error(err)
	}
}

// BenchmarkDelivery measures one delivery after the other, of one record each: of unknown
// documents, and of 255 known ones. An unknown city is looked up by its code, and the
// known ones have one.
func BenchmarkDelivery(b *testing.B) {
	for _, kind := range report.Kinds() {
		for _, documents := range []int{math.MaxInt, 255} {
			b.Run(fmt.Sprintf("%s/known=%t", kind, documents == 255), func(b *testing.B) {
				j, body, n := openBench(b), body4K(), 0
				deliver := func() {
					c := change(kind, n, documents, body)
					if kind == report.Cities {
						c.Code = journaltest.Code(n % documents)
					}
					mustDeliver(b, j, c)
					n++
				}
				for documents == 255 && n < documents {
					deliver()
				}
				b.ReportAllocs()
				start, first := journaltest.CPUTime(b), n
				for b.Loop() {
					deliver()
				}
				reportCPU(b, start, n-first)
			})
		}
	}
}

// BenchmarkLargeDelivery measures deliveries of 300 records of 40 KB each.
func BenchmarkLargeDelivery(b *testing.B) {
	j, body := openBench(b), bytes.Repeat([]byte("x"), 40_000)
	var list []report.Change
	for n := range 300 {
		list = append(list, change(report.SpecialReports, n, 300, body))
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(list) * len(body)))
	start, n := journaltest.CPUTime(b), 0
	for b.Loop() {
		mustDeliver(b, j, list...)
		n++
	}
	reportCPU(b, start, n)
}

// BenchmarkHot measures updates of 255 documents, 100 in a delivery, while the changes
// are claimed and settled.
func BenchmarkHot(b *testing.B) {
	j, body := openBench(b), body4K()
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			for list := claimBench(b, j); len(list) > 0; list = claimBench(b, j) {
				mustSettle(b, j, list)
			}
			select {
			case <-j.Changed():
			case <-stop:
				return
			}
		}
	}()
	b.ReportAllocs()
	b.ResetTimer()
	start := journaltest.CPUTime(b)
	for n := 0; n < b.N; {
		var list []report.Change
		for ; n < b.N && len(list) < 100; n++ {
			list = append(list, change(report.Advisories, n, 255, body))
		}
		mustDeliver(b, j, list...)
	}
	close(stop)
	<-ended
	reportCPU(b, start, b.N)
}

// BenchmarkEmptyClaim measures a Claim when nothing is pending.
func BenchmarkEmptyClaim(b *testing.B) {
	j := openBench(b)
	fillBench(b, j, 1000)
	for list := claimBench(b, j); len(list) > 0; list = claimBench(b, j) {
		mustSettle(b, j, list)
	}
	b.ReportAllocs()
	for b.Loop() {
		if list := claimBench(b, j); len(list) > 0 {
			b.Fatal("a change is pending, want an empty claim")
		}
	}
}

// BenchmarkClaim measures Claim alone, 500 changes at a time, and BenchmarkSettle
// measures Settle alone.
func BenchmarkClaim(b *testing.B)  { benchClaimOrSettle(b, true) }
func BenchmarkSettle(b *testing.B) { benchClaimOrSettle(b, false) }

func benchClaimOrSettle(b *testing.B, claim bool) {
	j := openBench(b)
	fillBench(b, j, b.N)
	b.ReportAllocs()
	b.ResetTimer()
	b.StopTimer()
	var spent time.Duration
	measure := func(on bool, f func()) {
		if !on {
			f()
			return
		}
		start := journaltest.CPUTime(b)
		b.StartTimer()
		f()
		b.StopTimer()
		spent += journaltest.CPUTime(b) - start
	}
	for n := 0; n < b.N; {
		var list []report.Settlement
		measure(claim, func() { list = claimBench(b, j) })
		measure(!claim, func() { mustSettle(b, j, list) })
		n += len(list)
	}
	b.ReportMetric(float64(spent.Nanoseconds())/1000/float64(b.N), "cpu-µs/op")
}
