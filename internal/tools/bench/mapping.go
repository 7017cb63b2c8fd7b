package main

import (
	"context"
	"encoding/json"
)

// mapping compares what the mapping of riskdex costs Elasticsearch with what a plain one
// does, by turns: CPU of a document of 4 KB, and the size of the index.
func (b *bench) mapping(ctx context.Context) {
	w := newWorkload(4 << 10)
	n := b.scale(5_000, 1_000)
	bulks := b.bulks(w, n, nil)
	settings, ours := b.set.Index()
	var fields map[string]any
	check(json.Unmarshal(ours["properties"], &fields))
	bodies := []any{
		map[string]any{"settings": settings, "mappings": ours},
		map[string]any{"settings": map[string]any{"number_of_shards": 1, "auto_expand_replicas": "0-1"},
			"mappings": map[string]any{"dynamic": false, "properties": withoutAnalysis(fields)}},
	}
	var processor, size [2][]float64
	for range b.scale(7, 3) {
		for i, body := range bodies {
			us, mb := b.indexOnce(ctx, body, bulks, n)
			processor[i], size[i] = append(processor[i], us), append(size[i], mb)
		}
	}
	delivered := megabytes(n * w.bodySize())
	b.note(
		told("mapping: CPU of Elasticsearch for a document (beside a plain mapping)", median(processor[0]), "µs").
			beside(median(processor[1])).ratioAtMost(2),
		told("mapping: the index (beside what was delivered)", median(size[0]), "MB").beside(delivered).ratioAtMost(1),
		told("plain mapping: the index (beside the same)", median(size[1]), "MB").beside(delivered),
	)
}

// indexOnce sends bulks to a new index, and returns the CPU of Elasticsearch for a document, in
// µs, and the size of the index, merged into one segment, in MB. The CPU counts until Elasticsearch
// is idle again, so what its merges take counts too.
func (b *bench) indexOnce(ctx context.Context, body any, bulks [][]byte, n int) (processor, size float64) {
	index := b.prefix("mapping")
	check(b.es.ask(ctx, "PUT", "/"+index, must(json.Marshal(body)), nil))
	b.es.settle(ctx)
	processor = usEach(n, b.es.spends(ctx, func() {
		b.sendBulks(ctx, index, bulks)
		b.es.settle(ctx)
	}))
	b.expect(ctx, index, n)
	check(b.es.ask(ctx, "POST", "/"+index+"/_forcemerge?max_num_segments=1", nil, nil))
	b.es.refresh(ctx, index) // drops the segments that were merged
	var answer struct {
		All struct {
			Primaries struct {
				Store struct {
					Size int `json:"size_in_bytes"`
				}
			}
		} `json:"_all"`
	}
	check(b.es.ask(ctx, "GET", "/"+index+"/_stats/store", nil, &answer))
	check(b.es.ask(ctx, "DELETE", "/"+index, nil, nil))
	return processor, megabytes(answer.All.Primaries.Store.Size)
}

func megabytes(bytes int) float64 { return float64(bytes) / 1e6 }

// withoutAnalysis returns fields of the same names and types, each indexed once and with
// Elasticsearch's defaults.
func withoutAnalysis(fields map[string]any) map[string]any {
	plain := map[string]any{}
	for name, field := range fields {
		kept := map[string]any{}
		for member, value := range field.(map[string]any) {
			switch member {
			case "type", "format", "enabled":
				kept[member] = value
			case "properties":
				kept[member] = withoutAnalysis(value.(map[string]any))
			}
		}
		plain[name] = kept
	}
	return plain
}
