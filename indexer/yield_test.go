package indexer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/indexertest"
	"riskdex/report"
)

// TestDocumentsThatFailYieldToOthers: changes that have waited longest are claimed first,
// and more of them fail than fit in a bulk.
func TestDocumentsThatFailYieldToOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changes, bytes int // in a bulk
		text           string
	}{
		"a bulk full of changes": {100, 1 << 20, "text"},
		"a bulk full of bytes":   {1000, 20_000, strings.Repeat("text ", 60)},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := indexertest.Quick()
			cfg.BulkChanges, cfg.BulkBytes = c.changes, c.bytes
			r := assemble(t, cfg)
			r.Fail(withoutShard("stuck"))
			stuck := indexertest.Many(report.Cities, 150, c.text)
			for i := range stuck {
				stuck[i].ID = "stuck" + stuck[i].ID
			}
			r.Append(stuck...)
			r.Append(indexertest.Many(report.Cities, 20, c.text)...)
			r.Run()
			r.Eventually("the others are settled", func() bool { return r.Stats().Kinds[report.Cities].Settled[report.Indexed] == 20 })
			if k := r.Stats().Kinds[report.Cities]; k.Pending != 150 || k.DeadLetters != 0 {
				t.Errorf("%d pending, %d dead letters; want 150 and none", k.Pending, k.DeadLetters)
			}
			r.Heal()
			r.Drained()
			if n := r.Count(report.Cities); n != 170 {
				t.Errorf("%d documents of 170", n)
			}
		})
	}
}

// withoutShard answers for documents whose id begins with prefix as Elasticsearch does
// after waiting for their shard in vain, and lets it index the others.
func withoutShard(prefix string) indexertest.Fault {
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if !indexertest.IsBulk(req) {
			next.ServeHTTP(w, req)
			return
		}
		time.Sleep(100 * time.Millisecond) // longer than a document waits that fails by itself
		body, err := io.ReadAll(req.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		lines := bytes.SplitAfter(body, []byte("\n"))
		var passed []byte
		items := make([]json.RawMessage, len(lines)/2) // an action and its document each
		for i := range items {
			var action struct {
				Index struct {
					ID string `json:"_id"`
				}
			}
			decode(lines[2*i], &action)
			if strings.HasPrefix(action.Index.ID, prefix) {
				items[i] = fmt.Appendf(nil, `{"index":{"_index":%q,"_id":%q,"status":503,"error":{"type":"unavailable_shards_exception","reason":"primary shard is not active"}}}`,
					strings.TrimSuffix(req.URL.Path[1:], "/_bulk"), action.Index.ID)
			} else {
				passed = append(append(passed, lines[2*i]...), lines[2*i+1]...)
			}
		}
		var answer struct{ Items []json.RawMessage }
		if len(passed) > 0 {
			rec := httptest.NewRecorder()
			req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(passed)), int64(len(passed))
			req.Header.Del("Accept-Encoding") // so that the answer can be read here
			next.ServeHTTP(rec, req)
			decode(rec.Body.Bytes(), &answer)
		}
		for i := range items {
			if items[i] == nil {
				items[i], answer.Items = answer.Items[0], answer.Items[1:]
			}
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		_ = json.NewEncoder(w).Encode(map[string]any{"items": items})
	}
}

func decode(text []byte, to any) {
	if err := json.Unmarshal(text, to); err != nil {
		panic(http.ErrAbortHandler)
	}
}
