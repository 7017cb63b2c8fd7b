package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// away delivers while Elasticsearch is down, and watches the memory of riskdex. Then it kills
// riskdex, and starts it again with Elasticsearch.
func (b *bench) away(ctx context.Context) {
	w := newWorkload(4 << 10)
	deliveries := b.scale(200_000, 6_000)
	reads := b.scale(60_000, 6_000)
	address, _, kill := b.startPeer(ctx, "none", "read", "")
	readsTook, readsAcks := must2(loadOf(w, reads, address).send(ctx))
	kill()
	r := b.prepare("away")
	r.start(ctx, nowhere)
	documents := deliveries / 2
	l := loadOf(w, deliveries, r.deliveries)
	l.document = func(n int) int { return n % documents }
	var half, most atomic.Int64 // KiB
	l.acked = func(n int) {
		if n%1000 != 0 {
			return
		}
		mib, err := residentMiB(r.process.PID())
		if err != nil {
			return // the failure shows at the end
		}
		for _, peak := range []*atomic.Int64{&half, &most} {
			if now := int64(mib * 1024); (peak == &most || n < deliveries/2) && now > peak.Load() {
				peak.Store(now)
			}
		}
	}
	profiled := b.profile(ctx, r, "away")
	took, acks := must2(l.send(ctx))
	must(residentMiB(r.process.PID()))
	profiled()
	mib := func(kib *atomic.Int64) float64 { return float64(kib.Load()) / 1024 }
	b.note(
		told("Elasticsearch away: accepted (beside a handler that does nothing)", perSecond(deliveries, took), "deliveries/s").
			beside(perSecond(reads, readsTook)).atLeast(10_000),
		told("Elasticsearch away: median (beside the same)", acks.median(), "ms").beside(readsAcks.median()),
		told("Elasticsearch away: 99th percentile", acks.p99(), "ms"),
		told(fmt.Sprintf("memory: %d deliveries arrive (beside the first half)", deliveries), mib(&most), "MiB").beside(mib(&half)).atMost(128),
	)
	b.restart(ctx, r, w, documents)
}

// restart kills r, which has pending documents pending, and starts it again.
func (b *bench) restart(ctx context.Context, r *riskdex, w *workload, pending int) {
	r.process.Kill()
	// The limit is measured before and after, because the speed of the machine varies, and with
	// as many documents, because a larger index is merged more.
	before, _ := b.limit(ctx, w, pending)
	b.es.settle(ctx)
	accepted := b.acceptsAfterStart(ctx, r, w, 0)
	profiled := b.profile(ctx, r, "drain")
	began := time.Now()
	check(until(ctx, writtenEvery, func() (bool, error) {
		has, err := b.es.written(ctx, r.index())
		return err == nil && has >= pending, ctx.Err() // until the index exists, errors are expected
	}))
	b.es.refresh(ctx, r.index())
	drained := time.Since(began)
	profiled()
	b.expect(ctx, r.index(), pending)
	after, _ := b.limit(ctx, w, pending)
	limit := perSecond(pending, (before+after)/2)
	b.note(
		told(fmt.Sprintf("restart with %d pending: accepts after", pending), accepted.Seconds(), "s").atMost(1),
		told("restart: drained", perSecond(pending, drained), "documents/s").beside(limit).ratioAtLeast(0.90),
	)
	r.end(ctx)
}

// acceptsAfterStart starts r, and returns how long it takes until it has accepted a
// delivery of document n.
func (b *bench) acceptsAfterStart(ctx context.Context, r *riskdex, w *workload, n int) time.Duration {
	began := time.Now()
	r.launch(b.es.url)
	check(until(ctx, time.Millisecond, func() (bool, error) {
		c, err := dial(ctx, r.deliveries)
		if err != nil {
			return false, ctx.Err() // r does not listen yet
		}
		defer c.conn.Close()
		status, err := c.send(w, n, 0)
		return status/100 == 2, err
	}))
	return time.Since(began)
}
