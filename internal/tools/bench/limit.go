package main

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"riskdex/elastic"
	"riskdex/mappings/indices"
	"riskdex/report"
)

// The limit is Elasticsearch itself: it is sent the documents that riskdex would send, made
// beforehand, in bulks of 8 MiB over two connections.
const (
	limitConnections = 2
	limitBulk        = 8 << 20
)

// clone creates an index in the same way as riskdex does, and returns its name.
func (b *bench) clone(ctx context.Context, prefix string) string {
	client := must(elastic.NewClient(elastic.Connection{URL: b.es.url}))
	x := &indices.Indices{Client: client, Prefix: prefix, Set: b.set, Log: slog.New(slog.DiscardHandler)}
	return must(x.Ensure(ctx, report.Advisories, func(context.Context) error { return nil }))
}

// bulks returns n documents of a workload as bodies of bulk requests. document returns the
// number of the i-th document; nil means i itself.
func (b *bench) bulks(w *workload, n int, document func(i int) int) (all [][]byte) {
	var bulk, body []byte
	for i := range n {
		at := i
		if document != nil {
			at = document(i)
		}
		body = w.appendBody(body[:0], at, 0)
		bulk = must(b.appendItem(bulk, id(at), time.Now(), body))
		if len(bulk) >= limitBulk || i == n-1 {
			all = append(all, bulk)
			bulk = make([]byte, 0, limitBulk+64<<10)
		}
	}
	return all
}

// appendItem appends the item of a document in a bulk.
func (b *bench) appendItem(dst []byte, id string, at time.Time, body []byte) ([]byte, error) {
	version := at.UnixMicro()
	dst = append(dst, `{"index":{"_id":"`...)
	dst = append(dst, id...)
	dst = append(dst, `","version_type":"external","version":`...)
	dst = strconv.AppendInt(dst, version, 10)
	dst = append(dst, "}}\n"...)
	dst, _, err := b.set.AppendDocument(dst, report.Change{
		Key: report.Key{Kind: report.Advisories, ID: report.ID(id)}, Op: report.Index,
		Version: report.Version(version), AcceptedAt: at, Body: body,
	})
	return append(dst, '\n'), err
}

// sendBulks sends bulks to an index and refreshes it. It returns how long that took, and
// the CPU time that Elasticsearch spent on it.
func (b *bench) sendBulks(ctx context.Context, index string, bulks [][]byte) (took, processor time.Duration) {
	processor = b.es.spends(ctx, func() {
		began := time.Now()
		group, working := errgroup.WithContext(ctx)
		group.SetLimit(limitConnections)
		for _, bulk := range bulks {
			group.Go(func() error {
				return b.es.ask(working, "POST", "/"+index+"/_bulk?filter_path=errors", bulk, nil)
			})
		}
		check(group.Wait())
		b.es.refresh(ctx, index)
		took = time.Since(began)
	})
	return took, processor
}

// limit measures how long Elasticsearch takes for n documents of a workload.
func (b *bench) limit(ctx context.Context, w *workload, n int) (took, processor time.Duration) {
	prefix := b.prefix("limit")
	index := b.clone(ctx, prefix)
	bulks := b.bulks(w, n, nil)
	b.es.settle(ctx)
	took, processor = b.sendBulks(ctx, index, bulks)
	b.expect(ctx, index, n)
	b.es.forget(ctx, prefix)
	return took, processor
}
