package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
)

// growth fills journal and index with small documents, so that it has a million in minutes,
// and then measures with documents of 4 KB like the other parts.
const (
	growthSize    = 256
	growthPayload = 1_000 // records in one POST
	growthUpdates = 5_000
	growthMost    = 1_000_000 // the targets are for as many
)

// noteGrowth records results, without their targets if these are for more documents.
func (b *bench) noteGrowth(documents int, results ...result) {
	for _, r := range results {
		if documents < growthMost {
			r.Target, r.Met = nil, nil
		}
		b.note(r)
	}
}

// growth measures the same at several sizes of journal and index, which shows the costs
// that grow with them.
func (b *bench) growth(ctx context.Context) error {
	sizes := []int{1_000, 10_000, 100_000, growthMost}
	if !b.long {
		sizes = sizes[:2]
	}
	small, err := newWorkload(growthSize)
	if err != nil {
		return err
	}
	large, err := newWorkload(4 << 10)
	if err != nil {
		return err
	}
	for _, size := range sizes {
		if err := b.growthAt(ctx, size, small, large); err != nil {
			return fmt.Errorf("at %d documents: %w", size, err)
		}
	}
	return nil
}

func (b *bench) growthAt(ctx context.Context, size int, small, large *workload) error {
	r, err := b.begin(ctx, "growth")
	if err != nil {
		return err
	}
	began := time.Now()
	if err := b.fill(ctx, r, small, size); err != nil {
		return err
	}
	filled := perSecond(size, time.Since(began))
	if err := b.es.settle(ctx); err != nil {
		return err
	}
	fresh, err := b.freshnessOf(ctx, r, large, b.scale(200, 40), size) // new ones, behind the others
	if err != nil {
		return err
	}
	if err := b.upkeep(ctx, r, size, small, large, fresh); err != nil {
		return err
	}
	u := updates{deliveries: min(growthUpdates, size), documents: size}
	took, acks, err := u.deliver(ctx, b, r, large)
	if err != nil {
		return err
	}
	memory, err := r.residentMiB()
	if err != nil {
		return err
	}
	journal, err := sizeOf(filepath.Dir(r.journal))
	if err != nil {
		return err
	}
	if err := r.stop(); err != nil {
		return err
	}
	accepted, err := b.acceptsAfterStart(ctx, r, large, size)
	if err != nil {
		return err
	}
	if err := r.settled(ctx); err != nil {
		return err
	}
	limit, err := u.straight(ctx, b, r, large)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%d documents: ", size)
	b.noteGrowth(size,
		told(name+fmt.Sprintf("filled, of %d bytes, %d in a POST", growthSize, growthPayload), filled, "documents/s"),
		told(name+"updates", perSecond(u.deliveries, took), "documents/s").beside(limit).ratioAtLeast(0.85),
		told(name+"acknowledged, median", ms(acks.at(0.5)), "ms"),
		told(name+"acknowledged, 99th percentile", ms(acks.at(0.99)), "ms"),
		told(name+"freshness, median", ms(fresh.at(0.5)), "ms"),
		told(name+"freshness, 99th percentile", ms(fresh.at(0.99)), "ms").atMost(200),
		told(name+"resident memory", memory, "MiB").atMost(128),
		told(name+"journal", float64(journal)/(1<<20), "MiB"),
		told(name+"restart: accepts after", accepted.Seconds(), "s"),
	)
	return r.end(ctx)
}

// fill delivers documents, growthPayload in each request.
func (b *bench) fill(ctx context.Context, r *riskdex, w *workload, documents int) error {
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for from := 0; from < documents; from += growthPayload {
		group.Go(func() error {
			return post(working, r.deliveries, w.payload(from, min(from+growthPayload, documents)))
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := r.written(ctx, documents); err != nil {
		return err
	}
	return b.es.refresh(ctx, r.index())
}

// updates are deliveries for existing documents, spread evenly over all of them.
type updates struct{ deliveries, documents int }

func (u updates) document(n int) int { return n * (u.documents / u.deliveries) }

func (u updates) deliver(ctx context.Context, b *bench, r *riskdex, w *workload) (time.Duration, latencies, error) {
	before, err := b.es.written(ctx, r.index())
	if err != nil {
		return 0, nil, err
	}
	l := load{addresses: []string{r.deliveries}, workload: w, deliveries: u.deliveries, document: u.document}
	began := time.Now()
	_, acks, err := l.send(ctx)
	if err == nil {
		err = r.written(ctx, before+u.deliveries)
	}
	if err == nil {
		err = b.es.refresh(ctx, r.index())
	}
	return time.Since(began), acks, err
}

// straight sends the same documents to the same index without riskdex, and returns the
// documents per second.
func (u updates) straight(ctx context.Context, b *bench, r *riskdex, w *workload) (float64, error) {
	bulks, err := b.bulks(w, u.deliveries, u.document)
	if err != nil {
		return 0, err
	}
	if err := b.es.settle(ctx); err != nil {
		return 0, err
	}
	took, _, err := b.sendBulks(ctx, r.index(), bulks)
	return perSecond(u.deliveries, took), err
}

// sizeOf returns the bytes of all files in a folder.
func sizeOf(dir string) (int64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return 0, err
		}
		sum += info.Size()
	}
	return sum, nil
}
