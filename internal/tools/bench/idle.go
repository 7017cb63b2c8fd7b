package main

import (
	"context"
	"time"
)

// idle measures what riskdex takes while nothing is delivered. Its probe runs nevertheless.
func (b *bench) idle(ctx context.Context) {
	r := b.begin(ctx, "idle")
	must2(loadOf(newWorkload(4<<10), 1_000, r.deliveries).send(ctx)) // so that it is not fresh
	r.settled(ctx)
	check(wait(ctx, time.Duration(b.scale(10, 3))*time.Second)) // let pending work end
	span := time.Duration(b.scale(120, 15)) * time.Second
	spent := r.spends(func() { check(wait(ctx, span)) })
	b.note(told("idle", 100*spent.Seconds()/span.Seconds(), "% of a core").atMost(0.1))
	r.end(ctx)
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
