package main

import (
	"context"
	"path/filepath"
	"time"
)

// A snapshot is a delivery of all reports at once.
const (
	snapshotRecords = 300
	snapshotSize    = 40 << 10
)

// countEvery is the interval of checks whether all can be found. Each check takes a
// millisecond or two of Elasticsearch's time.
const countEvery = 25 * time.Millisecond

// snapshot delivers 300 records of 40 KiB in one POST. It compares the time to the
// acknowledgement with a handler that reads, parses and fsyncs the same, right after its start
// like riskdex, and the time until all can be found with sending the same documents straight to
// Elasticsearch.
func (b *bench) snapshot(ctx context.Context) {
	w := newWorkload(snapshotSize)
	body := w.payload(0, snapshotRecords)
	var acks, least, found, limits []float64
	for range b.scale(5, 1) {
		took, _ := b.limit(ctx, w, snapshotRecords)
		limits = append(limits, ms(took))
		address, _, kill := b.startPeer(ctx, "none", "kept", filepath.Join(b.dir, "kept"))
		began := time.Now()
		check(post(ctx, address, body))
		least = append(least, ms(time.Since(began)))
		kill()
		r := b.begin(ctx, "snapshot")
		began = time.Now()
		check(post(ctx, r.deliveries, body))
		acks = append(acks, ms(time.Since(began)))
		check(until(ctx, countEvery, func() (bool, error) {
			has, err := b.es.count(ctx, r.index())
			return has == snapshotRecords, err
		}))
		found = append(found, ms(time.Since(began)))
		r.end(ctx)
	}
	b.note(
		told("snapshot, acknowledged (beside read, parse, fsync)", median(acks), "ms").beside(median(least)).ratioAtMost(2),
		told("snapshot, all searchable", median(found), "ms").beside(median(limits)).ratioAtMost(1.2),
	)
}
