package main

import (
	"context"
	"time"
)

// idle measures what riskdex takes while nothing is delivered. Its probe runs nevertheless.
func (b *bench) idle(ctx context.Context) error {
	r, err := b.begin(ctx, "idle")
	if err != nil {
		return err
	}
	w, err := newWorkload(4 << 10)
	if err != nil {
		return err
	}
	if _, _, err := (load{addresses: []string{r.deliveries}, workload: w, deliveries: 1_000}).send(ctx); err != nil { // so that it is not fresh
		return err
	}
	if err := r.settled(ctx); err != nil {
		return err
	}
	if err := wait(ctx, time.Duration(b.scale(10, 3))*time.Second); err != nil { // let pending work end
		return err
	}
	before, err := r.processor()
	if err != nil {
		return err
	}
	span := time.Duration(b.scale(120, 15)) * time.Second
	if err := wait(ctx, span); err != nil {
		return err
	}
	after, err := r.processor()
	if err != nil {
		return err
	}
	b.note(told("idle", 100*(after-before).Seconds()/span.Seconds(), "% of a core").atMost(0.1))
	return r.end(ctx)
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
