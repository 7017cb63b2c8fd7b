package main

import (
	"context"
	"slices"
	"time"
)

// Bounds of warming up. The first bulks of an Elasticsearch take several times as
// long as later ones: its JVM has yet to compile what they need.
const (
	warmRound = 5_000 // documents
	warmSame  = 0.05  // it is warm when the last rounds differ by less than this share
	warmMost  = 4 * time.Minute
)

// warmUp sends documents to Elasticsearch until the time for as many no longer falls. In
// the short form, the JVM compiles so little that it is warm at once.
func (b *bench) warmUp(ctx context.Context) error {
	b.say("warming Elasticsearch up …")
	w, err := newWorkload(4 << 10)
	if err != nil {
		return err
	}
	var rates []float64
	n := b.scale(warmRound, warmRound/2)
	for began := time.Now(); time.Since(began) < warmMost; {
		prefix := b.prefix("warm")
		index, err := b.clone(ctx, prefix)
		if err != nil {
			return err
		}
		bulks, err := b.bulks(w, n, nil)
		if err != nil {
			return err
		}
		took, _, err := b.sendBulks(ctx, index, bulks)
		if err != nil {
			return err
		}
		if err := b.es.forget(ctx, prefix); err != nil {
			return err
		}
		rates = append(rates, perSecond(n, took))
		last := rates[max(0, len(rates)-3):]
		if !b.long || len(rates) >= 8 && slices.Max(last) < slices.Min(last)*(1+warmSame) {
			break
		}
	}
	b.say("  from %.0f to %.0f documents/s", rates[0], rates[len(rates)-1])
	if !b.long {
		return nil
	}
	return b.warmUpRefreshes(ctx, w)
}

// warmUpRefreshes delivers small bulks, each refreshed, until Elasticsearch takes hardly less CPU
// for as many. They need other code than large bulks do, which is compiled far later: at 20 a second,
// a document took 49 ms of CPU, half of it to compile, in the first 20 seconds of a server, and 12 five
// minutes later.
func (b *bench) warmUpRefreshes(ctx context.Context, w *workload) error {
	var costs []float64 // ms for a document
	for began := time.Now(); time.Since(began) < warmMost; {
		one, err := b.paced(ctx, w, pace{200, "0.5"})
		if err != nil {
			return err
		}
		costs = append(costs, one.elasticsearch)
		last := costs[max(0, len(costs)-3):]
		if len(costs) >= 6 && slices.Max(last) < slices.Min(last)*(1+warmSame) {
			break
		}
	}
	b.say("  from %.1f to %.1f ms of CPU for a document", costs[0], costs[len(costs)-1])
	return nil
}
