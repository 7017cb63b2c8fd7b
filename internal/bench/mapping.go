package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// indexed is what one round in an index costs.
type indexed struct {
	processor float64 // µs of Elasticsearch for a document
	size      float64 // MB of the index, merged into one segment
}

// mapping compares what the mapping of riskdex costs Elasticsearch with what a plain one
// does, by turns: CPU of a document of 4 KB, and the size of the index.
func (b *bench) mapping(ctx context.Context) error {
	w, err := newWorkload(4 << 10)
	if err != nil {
		return err
	}
	n := b.scale(5_000, 1_000)
	bulks, err := b.bulks(w, n, nil)
	if err != nil {
		return err
	}
	settings, ours := b.set.Index()
	plain, err := withoutAnalysis(ours["properties"])
	if err != nil {
		return err
	}
	bodies := []any{
		map[string]any{"settings": settings, "mappings": ours},
		map[string]any{"settings": map[string]any{"number_of_shards": 1, "auto_expand_replicas": "0-1"}, "mappings": plain},
	}
	var processor, size [2][]float64
	for range b.scale(7, 3) {
		for i, body := range bodies {
			one, err := b.indexOnce(ctx, body, bulks, n)
			if err != nil {
				return err
			}
			processor[i] = append(processor[i], one.processor)
			size[i] = append(size[i], one.size)
		}
	}
	delivered := megabytes(n * w.bodySize())
	b.note(
		told("mapping: CPU of Elasticsearch for a document (beside a plain mapping)", median(processor[0]), "µs").
			beside(median(processor[1])).atMost(350),
		told("mapping: the index (beside what was delivered)", median(size[0]), "MB").beside(delivered).ratioAtMost(1.2),
		told("plain mapping: the index (beside the same)", median(size[1]), "MB").beside(delivered),
	)
	return nil
}

// indexOnce sends bulks to a new index. Elasticsearch's CPU time counts until it is idle
// again, so what its merges take counts too.
func (b *bench) indexOnce(ctx context.Context, body any, bulks [][]byte, n int) (one indexed, err error) {
	index := b.prefix("mapping")
	text, err := json.Marshal(body)
	if err != nil {
		return one, err
	}
	if err := b.es.ask(ctx, "PUT", "/"+index, text, nil); err != nil {
		return one, err
	}
	if err := b.es.settle(ctx); err != nil {
		return one, err
	}
	before, err := b.es.processor(ctx)
	if err != nil {
		return one, err
	}
	if _, _, err := b.sendBulks(ctx, index, bulks); err != nil {
		return one, err
	}
	if err := b.es.settle(ctx); err != nil {
		return one, err
	}
	after, err := b.es.processor(ctx)
	if err != nil {
		return one, err
	}
	if err := b.expect(ctx, index, n); err != nil {
		return one, err
	}
	size, err := b.es.mergedSize(ctx, index)
	if err != nil {
		return one, err
	}
	return indexed{float64((after-before)/time.Microsecond) / float64(n), megabytes(size)}, b.es.ask(ctx, "DELETE", "/"+index, nil, nil)
}

// mergedSize merges an index into one segment and returns its size in bytes.
func (s server) mergedSize(ctx context.Context, index string) (int, error) {
	if err := s.ask(ctx, "POST", "/"+index+"/_forcemerge?max_num_segments=1", nil, nil); err != nil {
		return 0, err
	}
	if err := s.refresh(ctx, index); err != nil { // drops the segments that were merged
		return 0, err
	}
	var answer struct {
		All struct {
			Primaries struct {
				Store struct {
					Size int `json:"size_in_bytes"`
				}
			}
		} `json:"_all"`
	}
	err := s.ask(ctx, "GET", "/"+index+"/_stats/store", nil, &answer)
	return answer.All.Primaries.Store.Size, err
}

func megabytes(bytes int) float64 { return float64(bytes) / 1e6 }

// withoutAnalysis returns a mapping with fields of the same names and types, each indexed
// once and with Elasticsearch's defaults.
func withoutAnalysis(properties jsontext.Value) (map[string]any, error) {
	var fields map[string]struct {
		Type       string         `json:"type"`
		Format     string         `json:"format"`
		Enabled    *bool          `json:"enabled"`
		Properties jsontext.Value `json:"properties"`
	}
	if err := json.Unmarshal(properties, &fields); err != nil {
		return nil, fmt.Errorf("read the mapping: %w", err)
	}
	plain := map[string]any{}
	for name, field := range fields {
		kept := map[string]any{}
		if field.Type != "" {
			kept["type"] = field.Type
		}
		if field.Format != "" {
			kept["format"] = field.Format
		}
		if field.Enabled != nil {
			kept["enabled"] = *field.Enabled
		}
		if len(field.Properties) > 0 {
			inner, err := withoutAnalysis(field.Properties)
			if err != nil {
				return nil, err
			}
			kept["properties"] = inner["properties"]
		}
		plain[name] = kept
	}
	return map[string]any{"dynamic": false, "properties": plain}, nil
}
