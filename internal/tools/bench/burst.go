package main

import (
	"context"
	"slices"
	"time"
)

// once is the measurement of one burst.
type once struct {
	rate      float64 // documents per second, until all are in the index
	p50, p99  float64 // ms to the acknowledgement
	cpu       float64 // s for 20,000 documents
	bulk      float64 // documents in a bulk, on average
	refreshes float64 // refreshes requested
}

// burst delivers 60,000 documents of 4 KB by PUT from 64 connections, and sends the same
// documents straight to Elasticsearch and to other handlers.
func (b *bench) burst(ctx context.Context) {
	w := newWorkload(4 << 10)
	n := b.scale(60_000, 3_000)
	disk := fsyncs(b.dir, 500)
	// The limit is measured before and after, because the speed of the machine varies.
	before, serverBefore := b.limit(ctx, w, n)
	ours := b.burstOnce(ctx, w, n)
	after, serverAfter := b.limit(ctx, w, n)
	limit := perSecond(n, (before+after)/2)
	b.note(
		told("limit: straight to _bulk", limit, "documents/s"),
		told("burst", ours.rate, "documents/s").beside(limit).ratioAtLeast(0.70),
		told("burst, acknowledged: median (beside an fsync)", ours.p50, "ms").beside(disk.median()),
		told("burst, acknowledged: 99th percentile", ours.p99, "ms").beside(disk.p99()),
		told("burst, documents in a bulk", ours.bulk, ""),
		told("burst, refreshes", ours.refreshes, ""),
		told("cost: CPU for 20,000 documents (beside Elasticsearch's)", ours.cpu, "s").
			beside(per20000(n, (serverBefore+serverAfter)/2)).ratioAtMost(0.25),
	)
	for _, p := range []struct{ answer, name string }{
		{"queued", "esutil handler, answers at once"}, {"indexed", "esutil handler, answers when indexed"},
	} {
		prefix := b.prefix("peer")
		index := b.clone(ctx, prefix)
		address, _, kill := b.startPeer(ctx, index, p.answer, "")
		b.es.settle(ctx)
		took, acks := b.deliver(ctx, loadOf(w, n, address), index, n)
		kill()
		b.es.forget(ctx, prefix)
		b.note(
			told(p.name, perSecond(n, took), "documents/s").beside(limit),
			told(p.name+": median", acks.median(), "ms"),
			told(p.name+": 99th percentile", acks.p99(), "ms"),
		)
	}
}

// burstOnce measures riskdex.
func (b *bench) burstOnce(ctx context.Context, w *workload, n int) (o once) {
	r := b.begin(ctx, "burst")
	before := r.metrics(ctx)
	profiled := b.profile(ctx, r, "burst")
	o.cpu = per20000(n, r.spends(func() {
		took, acks := b.deliver(ctx, loadOf(w, n, r.deliveries), r.index(), n)
		b.expect(ctx, r.index(), n)
		r.settled(ctx) // settling the last changes in the journal counts too
		o.rate, o.p50, o.p99 = perSecond(n, took), acks.median(), acks.p99()
	}))
	grown := increase(before, r.metrics(ctx))
	profiled()
	o.bulk = grown("riskdex_bulk_documents_sum") / grown("riskdex_bulk_documents_count")
	o.refreshes = grown("riskdex_refresh_seconds_count")
	r.end(ctx)
	return o
}

// deliver sends a load, and returns how long it takes until so many documents were written to
// an index and can be found.
func (b *bench) deliver(ctx context.Context, l load, index string, written int) (took time.Duration, acks latencies) {
	began := time.Now()
	_, acks = must2(l.send(ctx))
	b.es.awaitWritten(ctx, index, written)
	b.es.refresh(ctx, index)
	return time.Since(began), acks
}

func perSecond(n int, took time.Duration) float64 { return float64(n) / took.Seconds() }
func per20000(n int, cpu time.Duration) float64   { return cpu.Seconds() * 20_000 / float64(n) }
func usEach(n int, cpu time.Duration) float64     { return cpu.Seconds() * 1e6 / float64(n) }
func ms(d time.Duration) float64                  { return float64(d) / float64(time.Millisecond) }

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
