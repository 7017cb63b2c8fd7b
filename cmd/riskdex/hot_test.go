package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/internal/testkit/torture"
	"riskdex/report"
)

// TestHotDocumentsEndNewest: many senders correct the same few documents as fast as they can.
func TestHotDocumentsEndNewest(t *testing.T) {
	for name, c := range map[string]struct{ documents, updates int }{
		"one document":  {1, torture.Extent(2_000, 100_000)},
		"255 documents": {255, torture.Extent(2_000, 50_000)},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(t, elastictest.URL(t))
			p.start()
			p.send(http.MethodPut, "/cities/0", `{"t":1}`)
			p.drained() // once the index exists, updates overtake each other on the way to it
			const senders = 32
			h := &history{updates: make([]update, c.updates)}
			var running sync.WaitGroup
			for sender := range senders {
				running.Go(func() {
					for n := sender; n < c.updates; n += senders {
						path, body := fmt.Sprintf("/cities/%d", n%c.documents), fmt.Sprintf(`{"id":%d,"n":%d}`, n%c.documents, n)
						h.updates[n].sent = h.clock.Add(1)
						status, err := p.try(http.MethodPut, path, body)
						h.updates[n].acknowledged = h.clock.Add(1)
						if err != nil || status != http.StatusAccepted {
							t.Errorf("update %d: status %d, %v", n, status, err)
							return
						}
					}
				})
			}
			running.Wait()
			p.drained()
			m := p.metrics()
			if n := sum(m, "riskdex_changes_accepted_total"); n != float64(c.updates+1) {
				t.Errorf("%v accepted, want %d", n, c.updates+1)
			}
			found := p.indexed(report.Cities)
			if len(found) != c.documents {
				t.Errorf("%d documents, want %d", len(found), c.documents)
			}
			for id, source := range found {
				var body struct{ N int }
				require.NoError(t, json.Unmarshal(source, &body))
				if later, ok := h.newerThan(body.N, c.documents); ok {
					t.Errorf("%s: the index has update %d, although %d was sent after that one had been acknowledged", id, body.N, later)
				}
			}
			sent := sum(m, "riskdex_bulk_documents_sum")
			if sent > float64(c.updates)+1 {
				t.Errorf("%v writes were sent for %d updates", sent, c.updates)
			}
			t.Logf("%d updates of %d documents, %v writes sent to Elasticsearch", c.updates, c.documents, sent)
		})
	}
}

// history records when updates were sent and acknowledged, by a common logical clock.
type history struct {
	clock   atomic.Int64
	updates []update
}

type update struct{ sent, acknowledged int64 }

// newerThan finds an update of the same document that is certainly newer than n.
// Of updates that were under way at the same time, any may be the last.
func (h *history) newerThan(n, documents int) (int, bool) {
	for i := n % documents; i < len(h.updates); i += documents {
		if h.updates[i].sent > h.updates[n].acknowledged {
			return i, true
		}
	}
	return 0, false
}
