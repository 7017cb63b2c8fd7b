package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// freshnessEvery is the time between two deliveries: 20 per second.
const freshnessEvery = 50 * time.Millisecond

// freshness delivers documents one at a time, and measures the time from sending one to the
// first search that finds it. For comparison, it does the same with documents sent straight
// to an index, which is refreshed once a second.
func (b *bench) freshness(ctx context.Context) {
	w := newWorkload(4 << 10)
	n := b.scale(600, 80)
	prefix := b.prefix("plain")
	index := b.clone(ctx, prefix)
	plain := b.findEach(ctx, index, n, 0, func(i int) error {
		item, err := b.appendItem(nil, id(i), time.Now(), w.appendBody(nil, i, 0))
		if err != nil {
			return err
		}
		return b.es.ask(ctx, "POST", "/"+index+"/_bulk", item, nil)
	})
	b.es.forget(ctx, prefix)
	r := b.begin(ctx, "fresh")
	before := r.metrics(ctx)
	ours := b.freshnessOf(ctx, r, w, n, 0)
	grown := increase(before, r.metrics(ctx))
	mean := func(name string) float64 { return 1000 * grown(name+"_sum") / grown(name+"_count") }
	b.note(
		told("freshness: median (beside a plain index)", ours.median(), "ms").beside(plain.median()).atMost(60),
		told("freshness: 99th percentile", ours.p99(), "ms").beside(plain.p99()).atMost(200),
		told("freshness: a bulk, mean", mean("riskdex_bulk_seconds"), "ms"),
		told("freshness: a refresh, mean", mean("riskdex_refresh_seconds"), "ms"),
	)
	r.end(ctx)
}

// freshnessOf measures freshness for n documents of a workload, starting with number first.
func (b *bench) freshnessOf(ctx context.Context, r *riskdex, w *workload, n, first int) latencies {
	return b.findEach(ctx, r.index(), n, first, func(i int) error {
		c, err := dial(ctx, r.deliveries)
		if err != nil {
			return err
		}
		defer c.conn.Close()
		return c.put(w, i, 0)
	})
}

// lookEvery is the pause between two searches for what was sent.
const lookEvery = 5 * time.Millisecond

// findEach sends n documents, starting with number first, one every freshnessEvery, and
// searches until it has found them all. It makes one search at a time, for all documents
// that were sent and not found yet: with one search per document, slower indexing would
// mean more searches, which would slow it further.
func (b *bench) findEach(ctx context.Context, index string, n, first int, send func(i int) error) latencies {
	sending, ctx := errgroup.WithContext(ctx)
	began := make([]atomic.Int64, n) // after start; 0 is not yet
	start := time.Now().Add(-1)
	sending.Go(func() error {
		ticker := time.NewTicker(freshnessEvery)
		defer ticker.Stop()
		for i := range n {
			sending.Go(func() error {
				began[i].Store(int64(time.Since(start)))
				return send(first + i)
			})
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-ticker.C:
			}
		}
		return nil
	})
	each := make(latencies, n)
	sending.Go(func() error {
		for found := 0; found < n; {
			wanted := map[string]int{}
			for i := range n {
				if each[i] == 0 && began[i].Load() > 0 {
					wanted[id(first+i)] = i
				}
			}
			hits, err := b.find(ctx, index, slices.Collect(maps.Keys(wanted)))
			if err != nil {
				return err
			}
			now := time.Since(start)
			for _, hit := range hits {
				i := wanted[hit]
				each[i] = now - time.Duration(began[i].Load())
				found++
			}
			if err := wait(ctx, lookEvery); err != nil {
				return err
			}
		}
		return nil
	})
	check(sending.Wait())
	slices.Sort(each)
	return each
}

// find searches for documents by id, and returns the ids that it finds.
func (b *bench) find(ctx context.Context, index string, ids []string) (found []string, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var answer struct {
		Hits struct {
			Hits []struct {
				ID string `json:"_id"`
			}
		}
	}
	query := fmt.Sprintf(`{"query":{"ids":{"values":["%s"]}},"size":%d,"_source":false,"track_total_hits":false}`, strings.Join(ids, `","`), len(ids))
	err = b.es.ask(ctx, "POST", "/"+index+"/_search?request_cache=false", []byte(query), &answer)
	for _, hit := range answer.Hits.Hits {
		found = append(found, hit.ID)
	}
	return found, err
}
