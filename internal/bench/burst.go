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
func (b *bench) burst(ctx context.Context) error {
	w, err := newWorkload(4 << 10)
	if err != nil {
		return err
	}
	n := b.scale(60_000, 3_000)
	disk, err := fsyncs(b.dir, 500)
	if err != nil {
		return err
	}
	// The limit is measured before and after, because the speed of the machine varies.
	before, serverBefore, err := b.limit(ctx, w, n)
	if err != nil {
		return err
	}
	ours, err := b.burstOnce(ctx, w, n)
	if err != nil {
		return err
	}
	after, serverAfter, err := b.limit(ctx, w, n)
	if err != nil {
		return err
	}
	limit := perSecond(n, (before+after)/2)
	b.note(
		told("limit: straight to _bulk", limit, "documents/s"),
		told("burst", ours.rate, "documents/s").beside(limit).ratioAtLeast(0.70),
		told("burst, acknowledged: median (beside an fsync)", ours.p50, "ms").beside(ms(disk.at(0.5))),
		told("burst, acknowledged: 99th percentile", ours.p99, "ms").beside(ms(disk.at(0.99))),
		told("burst, documents in a bulk", ours.bulk, ""),
		told("burst, refreshes", ours.refreshes, ""),
		told("cost: CPU for 20,000 documents (beside Elasticsearch's)", ours.cpu, "s").
			beside(per20000(n, (serverBefore+serverAfter)/2)).ratioAtMost(0.25),
	)
	for _, p := range []struct{ answer, name string }{
		{"queued", "esutil handler, answers at once"}, {"indexed", "esutil handler, answers when indexed"},
	} {
		one, err := b.burstPeer(ctx, w, n, p.answer)
		if err != nil {
			return err
		}
		b.note(
			told(p.name, one.rate, "documents/s").beside(limit),
			told(p.name+": median", one.p50, "ms"),
			told(p.name+": 99th percentile", one.p99, "ms"),
		)
	}
	return nil
}

// burstOnce measures riskdex.
func (b *bench) burstOnce(ctx context.Context, w *workload, n int) (o once, err error) {
	r, err := b.begin(ctx, "burst")
	if err != nil {
		return o, err
	}
	if err := b.es.settle(ctx); err != nil {
		return o, err
	}
	before, err := r.metrics(ctx)
	if err != nil {
		return o, err
	}
	cpu, err := r.processor()
	if err != nil {
		return o, err
	}
	profiled := b.profile(ctx, r, "burst")
	began := time.Now()
	_, acks, err := load{addresses: []string{r.deliveries}, workload: w, deliveries: n}.send(ctx)
	if err == nil {
		err = r.written(ctx, n)
	}
	if err == nil {
		err = b.es.refresh(ctx, r.index())
	}
	if err != nil {
		return o, err
	}
	took := time.Since(began)
	if err := b.expect(ctx, r.index(), n); err != nil {
		return o, err
	}
	if err := r.settled(ctx); err != nil { // settling the last changes in the journal counts too
		return o, err
	}
	after, err := r.processor()
	if err != nil {
		return o, err
	}
	m, err := r.metrics(ctx)
	if err != nil {
		return o, err
	}
	profiled()
	grown := increase(before, m)
	o = once{
		rate: perSecond(n, took), p50: ms(acks.at(0.5)), p99: ms(acks.at(0.99)), cpu: per20000(n, after-cpu),
		bulk: grown("riskdex_bulk_documents_sum") / grown("riskdex_bulk_documents_count"), refreshes: grown("riskdex_refresh_seconds_count"),
	}
	return o, r.end(ctx)
}

// burstPeer measures a handler around esutil.BulkIndexer.
func (b *bench) burstPeer(ctx context.Context, w *workload, n int, answer string) (o once, err error) {
	prefix := b.prefix("peer")
	index, err := b.clone(ctx, prefix)
	if err != nil {
		return o, err
	}
	process, address, err := b.startPeer(ctx, index, answer, "")
	if err != nil {
		return o, err
	}
	defer process.Kill()
	if err := b.es.settle(ctx); err != nil {
		return o, err
	}
	began := time.Now()
	_, acks, err := load{addresses: []string{address}, workload: w, deliveries: n}.send(ctx)
	if err != nil {
		return o, err
	}
	if err = b.es.awaitWritten(ctx, index, n); err == nil {
		err = b.es.refresh(ctx, index)
	}
	if err != nil {
		return o, err
	}
	o = once{rate: perSecond(n, time.Since(began)), p50: ms(acks.at(0.5)), p99: ms(acks.at(0.99))}
	return o, b.es.forget(ctx, prefix)
}

func perSecond(n int, took time.Duration) float64 { return float64(n) / took.Seconds() }
func per20000(n int, cpu time.Duration) float64   { return cpu.Seconds() * 20_000 / float64(n) }
func usEach(n int, cpu time.Duration) float64     { return cpu.Seconds() * 1e6 / float64(n) }
func ms(d time.Duration) float64                  { return float64(d) / float64(time.Millisecond) }

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
