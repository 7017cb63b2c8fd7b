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
func (b *bench) growth(ctx context.Context) {
	sizes := []int{1_000, 10_000, 100_000, growthMost}
	if !b.long {
		sizes = sizes[:2]
	}
	small, large := newWorkload(growthSize), newWorkload(4<<10)
	for _, size := range sizes {
		b.growthAt(ctx, size, small, large)
	}
}

func (b *bench) growthAt(ctx context.Context, size int, small, large *workload) {
	r := b.begin(ctx, "growth")
	began := time.Now()
	b.fill(ctx, r, small, size)
	filled := perSecond(size, time.Since(began))
	b.es.settle(ctx)
	fresh := b.freshnessOf(ctx, r, large, b.scale(200, 40), size) // new ones, behind the others
	b.upkeep(ctx, r, size, small, large, fresh)

	// Updates of existing documents, spread evenly over all of them.
	updates := loadOf(large, min(growthUpdates, size), r.deliveries)
	updates.document = func(n int) int { return n * (size / updates.deliveries) }
	written := must(b.es.written(ctx, r.index()))
	took, acks := b.deliver(ctx, updates, r.index(), written+updates.deliveries)
	memory := must(residentMiB(r.process.PID()))
	journal := sizeMiB(filepath.Dir(r.journal))
	r.stop()
	accepted := b.acceptsAfterStart(ctx, r, large, size)
	r.settled(ctx)

	// The same documents, sent to the same index without riskdex.
	bulks := b.bulks(large, updates.deliveries, updates.document)
	b.es.settle(ctx)
	straight, _ := b.sendBulks(ctx, r.index(), bulks)
	name := fmt.Sprintf("%d documents: ", size)
	b.noteGrowth(size,
		told(name+fmt.Sprintf("filled, of %d bytes, %d in a POST", growthSize, growthPayload), filled, "documents/s"),
		told(name+"updates", perSecond(updates.deliveries, took), "documents/s").
			beside(perSecond(updates.deliveries, straight)).ratioAtLeast(0.85),
		told(name+"acknowledged, median", acks.median(), "ms"),
		told(name+"acknowledged, 99th percentile", acks.p99(), "ms"),
		told(name+"freshness, median", fresh.median(), "ms"),
		told(name+"freshness, 99th percentile", fresh.p99(), "ms").atMost(200),
		told(name+"resident memory", memory, "MiB").atMost(128),
		told(name+"journal", journal, "MiB"),
		told(name+"restart: accepts after", accepted.Seconds(), "s"),
	)
	r.end(ctx)
}

// fill delivers documents, growthPayload in each request.
func (b *bench) fill(ctx context.Context, r *riskdex, w *workload, documents int) {
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for from := 0; from < documents; from += growthPayload {
		group.Go(func() error {
			return post(working, r.deliveries, w.payload(from, min(from+growthPayload, documents)))
		})
	}
	check(group.Wait())
	b.es.awaitWritten(ctx, r.index(), documents)
	b.es.refresh(ctx, r.index())
}

// sizeMiB returns the size of all files in a folder.
func sizeMiB(dir string) float64 {
	var sum int64
	for _, entry := range must(os.ReadDir(dir)) {
		sum += must(entry.Info()).Size()
	}
	return float64(sum) / (1 << 20)
}
