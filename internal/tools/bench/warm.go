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
//
// Then it delivers small bulks, each refreshed, until Elasticsearch takes hardly less CPU for as
// many. They need other code than large bulks do, which is compiled far later: at 20 a second, a
// document took 49 ms of CPU, half of it to compile, in the first 20 seconds of a server, and 12
// five minutes later.
func (b *bench) warmUp(ctx context.Context) {
	b.say("warming Elasticsearch up …")
	w := newWorkload(4 << 10)
	n := b.scale(warmRound, warmRound/2)
	rates := b.untilSame(8, func() float64 {
		took, _ := b.limit(ctx, w, n)
		return perSecond(n, took)
	})
	b.say("  from %.0f to %.0f documents/s", rates[0], rates[len(rates)-1])
	if b.long {
		costs := b.untilSame(6, func() float64 { return b.paced(ctx, w, pace{200, "0.5"}).elasticsearch })
		b.say("  from %.1f to %.1f ms of CPU for a document", costs[0], costs[len(costs)-1])
	}
}

// untilSame measures until the last figures are nearly the same, at least so many times; once in the
// short form.
func (b *bench) untilSame(least int, measure func() float64) (all []float64) {
	for began := time.Now(); time.Since(began) < warmMost; {
		all = append(all, measure())
		last := all[max(0, len(all)-3):]
		if !b.long || len(all) >= least && slices.Max(last) < slices.Min(last)*(1+warmSame) {
			break
		}
	}
	return all
}
