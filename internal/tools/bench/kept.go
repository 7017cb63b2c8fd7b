package main

import (
	"context"
	"path/filepath"
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
func (b *bench) kept(ctx context.Context) {
	w := newWorkload(4 << 10)
	n := b.scale(12_000, 1_000)
	var with, without []keptOnce
	for turn := range keptTurns {
		for _, keeps := range []bool{turn%2 == 0, turn%2 != 0} {
			one := b.keptOnce(ctx, w, n, keeps)
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
}

func medianOf[T any](all []T, of func(T) float64) float64 {
	var values []float64
	for _, o := range all {
		values = append(values, of(o))
	}
	return median(values)
}

func (b *bench) keptOnce(ctx context.Context, w *workload, n int, keeps bool) (o keptOnce) {
	var flags []string
	if keeps {
		flags = []string{"--history=90d"}
	}
	r := b.begin(ctx, "kept", flags...)
	burst := func(editions, first int) (acknowledged, settled float64) {
		l := loadOf(w, editions*n, r.deliveries)
		l.document, l.edition = func(i int) int { return i % n }, func(i int) int { return first + i/n }
		began := time.Now()
		sent, _ := must2(l.send(ctx))
		r.settled(ctx)
		return perSecond(l.deliveries, sent), perSecond(l.deliveries, time.Since(began))
	}
	_, o.fresh = burst(1, 0)
	o.cpu = per20000(keptEditions*n, r.spends(func() { o.known, _ = burst(keptEditions, 1) }))
	o.journal = sizeMiB(filepath.Dir(r.journal))
	r.end(ctx)
	return o
}
