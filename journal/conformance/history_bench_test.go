package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/journal"
	"riskdex/report"
)

// BenchmarkHistory measures what history costs: a burst of 64 senders that deliver records of 4
// KB, to a journal with history and to one without by turns, of new documents and of known ones.
func BenchmarkHistory(b *testing.B) {
	words := strings.Fields("what travellers should know of strikes floods protests airports and the roads to them before they leave today")
	record := func(n int) []byte {
		var text strings.Builder
		for i := 0; text.Len() < 3900; i++ {
			fmt.Fprintf(&text, "%s %d ", words[(i*7+n)%len(words)], (i*n)%97)
		}
		body, err := json.Marshal(map[string]any{"id": n, "title": "a city", "risk_level": n % 6, "text": text.String()})
		if err != nil {
			b.Fatal(err)
		}
		return body
	}
	bodies := make([][]byte, 500)
	for i := range bodies {
		bodies[i] = record(i)
	}
	const senders, burst = 64, 4000
	run := func(b *testing.B, j journal.Journal, first, documents int) (wall, cpu time.Duration) {
		var next atomic.Int64
		var wg sync.WaitGroup
		start, used := time.Now(), journaltest.CPUTime(b)
		for range senders {
			wg.Go(func() {
				for n := int(next.Add(1)); n <= burst; n = int(next.Add(1)) {
					d := journaltest.Put(fmt.Sprint((first+n)%documents), "")
					d.Changes[0].Body = bodies[(first+n+first/burst)%len(bodies)]
					d.Source = report.Source{Sender: "publisher", Address: "192.0.2.7", Call: "PUT /advisories/1", Request: "AMY56D4W5XNHALQZNCLHXGCSHH"}
					if _, err := j.Append(context.Background(), d); err != nil {
						b.Error(err)
					}
				}
			})
		}
		wg.Wait()
		return time.Since(start), journaltest.CPUTime(b) - used
	}
	benchmarkEngines(b, func(b *testing.B, open func(journal.Options) journal.Journal) {
		for name, documents := range map[string]int{"new": 1 << 30, "known": 2000} {
			b.Run(name, func(b *testing.B) {
				var journals [2]journal.Journal
				for i, keep := range []time.Duration{0, 24 * time.Hour} {
					journals[i] = open(journal.Options{History: keep})
					run(b, journals[i], 0, documents)
				}
				var wall, cpu [2]time.Duration
				first := burst
				for b.Loop() {
					for i, j := range journals {
						w, c := run(b, j, first, documents)
						wall[i], cpu[i] = wall[i]+w, cpu[i]+c
					}
					first += burst
				}
				n := float64(b.N * burst)
				b.ReportMetric(float64(cpu[0].Microseconds())/n, "cpu-µs/off")
				b.ReportMetric(float64(cpu[1].Microseconds())/n, "cpu-µs/on")
				b.ReportMetric(float64(wall[0].Microseconds())/n, "µs/off")
				b.ReportMetric(float64(wall[1].Microseconds())/n, "µs/on")
			})
		}
	})
}
