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
	return nil
}
