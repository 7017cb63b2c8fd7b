package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// away delivers while Elasticsearch is down, and watches the memory of riskdex. Then it kills
// riskdex, and starts it again with Elasticsearch.
func (b *bench) away(ctx context.Context) error {
	w, err := newWorkload(4 << 10)
	if err != nil {
		return err
	}
	deliveries := b.scale(200_000, 6_000)
	documents := deliveries / 2
	reads, readsMedian, err := b.onlyRead(ctx, w, b.scale(60_000, 6_000))
	if err != nil {
		return err
	}
	r, err := b.prepare("away")
	if err != nil {
		return err
	}
	if err := r.start(ctx, nowhere); err != nil {
		return err
	}
	l := load{addresses: []string{r.deliveries}, workload: w, deliveries: deliveries, document: func(n int) int { return n % documents }}
	var half, most atomic.Int64 // KiB
	l.acked = func(n int) {
		if n%1000 != 0 {
			return
		}
		mib, err := r.residentMiB()
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
	took, acks, err := l.send(ctx)
	if err != nil {
		return err
	}
	if _, err := r.residentMiB(); err != nil {
		return err
	}
	profiled()
	mib := func(kib *atomic.Int64) float64 { return float64(kib.Load()) / 1024 }
	b.note(
		told("Elasticsearch away: accepted (beside a handler that does nothing)", perSecond(deliveries, took), "deliveries/s").beside(reads).atLeast(10_000),
		told("Elasticsearch away: median (beside the same)", ms(acks.at(0.5)), "ms").beside(readsMedian),
		told("Elasticsearch away: 99th percentile", ms(acks.at(0.99)), "ms"),
		told(fmt.Sprintf("memory: %d deliveries arrive (beside the first half)", deliveries), mib(&most), "MiB").beside(mib(&half)).atMost(128),
	)
	return b.restart(ctx, r, w, documents)
}

// onlyRead measures a handler that reads deliveries, discards them and answers. It returns
// deliveries per second, and the median time of one in milliseconds.
func (b *bench) onlyRead(ctx context.Context, w *workload, deliveries int) (perSec, median float64, err error) {
	process, address, err := b.startPeer(ctx, "none", "read", "")
	if err != nil {
		return 0, 0, err
	}
	defer process.Kill()
	took, acks, err := load{addresses: []string{address}, workload: w, deliveries: deliveries}.send(ctx)
	return perSecond(deliveries, took), ms(acks.at(0.5)), err
}

// restart kills r, which has pending documents pending, and starts it again.
func (b *bench) restart(ctx context.Context, r *riskdex, w *workload, pending int) error {
	r.kill()
	// The limit is measured before and after, because the speed of the machine varies, and with
	// as many documents, because a larger index is merged more.
	before, _, err := b.limit(ctx, w, pending)
	if err != nil {
		return err
	}
	if err := b.es.settle(ctx); err != nil {
		return err
	}
	accepted, err := b.acceptsAfterStart(ctx, r, w, 0)
	if err != nil {
		return err
	}
	profiled := b.profile(ctx, r, "drain")
	began := time.Now()
	err = until(ctx, writtenEvery, func() (bool, error) {
		has, err := b.es.written(ctx, r.index())
		return err == nil && has >= pending, ctx.Err() // until the index exists, errors are expected
	})
	if err == nil {
		err = b.es.refresh(ctx, r.index())
	}
	if err != nil {
		return err
	}
	drained := time.Since(began)
	profiled()
	if err := b.expect(ctx, r.index(), pending); err != nil {
		return err
	}
	after, _, err := b.limit(ctx, w, pending)
	if err != nil {
		return err
	}
	limit := perSecond(pending, (before+after)/2)
	b.note(
		told(fmt.Sprintf("restart with %d pending: accepts after", pending), accepted.Seconds(), "s").atMost(1),
		told("restart: drained", perSecond(pending, drained), "documents/s").beside(limit).ratioAtLeast(0.90),
	)
	return r.end(ctx)
}

// acceptsAfterStart starts r, and returns how long it takes until it has accepted a
// delivery of document n.
func (b *bench) acceptsAfterStart(ctx context.Context, r *riskdex, w *workload, n int) (time.Duration, error) {
	began := time.Now()
	if err := r.launch(b.es.url); err != nil {
		return 0, err
	}
	err := until(ctx, time.Millisecond, func() (bool, error) {
		c, err := dial(ctx, r.deliveries)
		if err != nil {
			return false, ctx.Err() // r does not listen yet
		}
		defer c.conn.Close()
		status, err := c.send(w, n, 0)
		return status/100 == 2, err
	})
	return time.Since(began), err
}
