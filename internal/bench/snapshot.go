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
// acknowledgement with a handler that reads, parses and fsyncs the same, and the time until
// all can be found with sending the same documents straight to Elasticsearch.
func (b *bench) snapshot(ctx context.Context) error {
	w, err := newWorkload(snapshotSize)
	if err != nil {
		return err
	}
	body := w.payload(0, snapshotRecords)
	var acks, least, found, limits []float64
	for range b.scale(5, 1) {
		took, _, err := b.limit(ctx, w, snapshotRecords)
		if err != nil {
			return err
		}
		limits = append(limits, ms(took))
		if took, err = b.keepSnapshot(ctx, body); err != nil {
			return err
		}
		least = append(least, ms(took))
		ack, all, err := b.snapshotOnce(ctx, body)
		if err != nil {
			return err
		}
		acks, found = append(acks, ms(ack)), append(found, ms(all))
	}
	b.note(
		told("snapshot, acknowledged (beside read, parse, fsync)", median(acks), "ms").beside(median(least)).ratioAtMost(2),
		told("snapshot, all searchable", median(found), "ms").beside(median(limits)).ratioAtMost(1.2),
	)
	return nil
}

func (b *bench) snapshotOnce(ctx context.Context, body []byte) (ack, all time.Duration, err error) {
	r, err := b.begin(ctx, "snapshot")
	if err != nil {
		return 0, 0, err
	}
	if err := b.es.settle(ctx); err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if err := post(ctx, r.deliveries, body); err != nil {
		return 0, 0, err
	}
	ack = time.Since(began)
	err = until(ctx, countEvery, func() (bool, error) {
		has, err := b.es.count(ctx, r.index())
		return has == snapshotRecords, err
	})
	if err != nil {
		return 0, 0, err
	}
	all = time.Since(began)
	return ack, all, r.end(ctx)
}

// keepSnapshot measures the handler that only makes a body durable, right after its start like
// riskdex.
func (b *bench) keepSnapshot(ctx context.Context, body []byte) (took time.Duration, err error) {
	process, address, err := b.startPeer(ctx, "none", "kept", filepath.Join(b.dir, "kept"))
	if err != nil {
		return 0, err
	}
	defer process.Kill()
	began := time.Now()
	err = post(ctx, address, body)
	return time.Since(began), err
}
