package main

import (
	"context"
	"path/filepath"
	"slices"
	"time"
)

// keptOnce is the measurement of one riskdex that keeps history, or does not.
type keptOnce struct {
	fresh   float64 // new documents per second, until all are settled
	known   float64 // deliveries of known documents acknowledged per second
	cpu     float64 // s for 20,000 of these, until all are settled
	journal float64 // MiB
}

// Each turn delivers documents of 4 KB, and then further editions of each.
const (
	keptTurns    = 5
	keptEditions = 4
)

// kept measures what history costs, with and without it by turns.
func (b *bench) kept(ctx context.Context) error {
	w, err := newWorkload(4 << 10)
	if err != nil {
		return err
	}
	n := b.scale(12_000, 1_000)
	var with, without []keptOnce
	for turn := range keptTurns {
		for _, keeps := range []bool{turn%2 == 0, turn%2 != 0} {
			one, err := b.keptOnce(ctx, w, n, keeps)
			if err != nil {
				return err
			}
			b.say("  history %t: %.0f documents/s; %.0f deliveries/s, %.2f s of CPU for 20,000", keeps, one.fresh, one.known, one.cpu)
			if keeps {
				with = append(with, one)
			} else {
				without = append(without, one)
			}
		}
	}
	compare := func(measure, unit string, of func(keptOnce) float64) result {
		return told("history kept: "+measure, medianOf(with, of), unit).beside(medianOf(without, of))
	}
	b.note(
		compare("burst of new documents", "documents/s", func(o keptOnce) float64 { return o.fresh }).ratioAtLeast(0.9),
		compare("four more editions of each, acknowledged", "deliveries/s", func(o keptOnce) float64 { return o.known }).ratioAtLeast(0.9),
		compare("CPU for 20,000 of these deliveries", "s", func(o keptOnce) float64 { return o.cpu }),
		compare("the journal in the end", "MiB", func(o keptOnce) float64 { return o.journal }),
	)
	return nil
}

func medianOf[T any](all []T, of func(T) float64) float64 {
	var values []float64
	for _, o := range all {
		values = append(values, of(o))
	}
	return median(values)
}

func (b *bench) keptOnce(ctx context.Context, w *workload, n int, keeps bool) (o keptOnce, err error) {
	usual := b.extra
	defer func() { b.extra = usual }()
	if b.extra = slices.Clone(usual); keeps {
		b.extra = append(b.extra, "--history=90d")
	}
	r, err := b.begin(ctx, "kept")
	if err != nil {
		return o, err
	}
	if err := b.es.settle(ctx); err != nil {
		return o, err
	}
	burst := func(editions, first int) (acknowledged, settled float64, err error) {
		l := load{addresses: []string{r.deliveries}, workload: w, deliveries: editions * n,
			document: func(i int) int { return i % n }, edition: func(i int) int { return first + i/n }}
		began := time.Now()
		sent, _, err := l.send(ctx)
		if err == nil {
			err = r.settled(ctx)
		}
		return perSecond(l.deliveries, sent), perSecond(l.deliveries, time.Since(began)), err
	}
	if _, o.fresh, err = burst(1, 0); err != nil {
		return o, err
	}
	before, err := r.processor()
	if err != nil {
		return o, err
	}
	if o.known, _, err = burst(keptEditions, 1); err != nil {
		return o, err
	}
	after, err := r.processor()
	if err != nil {
		return o, err
	}
	o.cpu = per20000(keptEditions*n, after-before)
	size, err := sizeOf(filepath.Dir(r.journal))
	if err != nil {
		return o, err
	}
	o.journal = float64(size) / (1 << 20)
	return o, r.end(ctx)
}
