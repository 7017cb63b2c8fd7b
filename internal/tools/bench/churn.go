package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// hot is the number of documents that churn updates.
const hot = 255

// churn updates a few documents all the time, and measures until the index has the last
// update of each. It also counts the writes to the index, and the documents that end with
// another body than the newest.
func (b *bench) churn(ctx context.Context) {
	updates := b.scale(50_000, 6_000)
	r := b.begin(ctx, "churn")
	h := &history{updates: make([]update, updates)}
	l := loadOf(newWorkload(4<<10), updates, r.deliveries)
	l.document, l.edition = func(n int) int { return n % hot }, func(n int) int { return n }
	l.sending = func(n int) { h.updates[n].sent = h.clock.Add(1) }
	l.acked = func(n int) { h.updates[n].acknowledged = h.clock.Add(1) }
	profiled := b.profile(ctx, r, "churn")
	began := time.Now()
	must2(l.send(ctx))
	r.settled(ctx)
	took := time.Since(began)
	profiled()
	items := must(b.es.written(ctx, r.index()))
	b.es.refresh(ctx, r.index())
	b.note(
		told(fmt.Sprintf("churn: %d updates of %d documents settled", updates, hot), took.Seconds(), "s").atMost(5*float64(updates)/50_000),
		told("churn, stale documents", float64(b.stale(ctx, r.index(), h)), "").atMost(0),
		told("churn, documents sent to Elasticsearch", float64(items), ""),
	)
	r.end(ctx)
}

// history records when updates were sent and acknowledged, by a common logical clock.
type history struct {
	clock   atomic.Int64
	updates []update
}

type update struct{ sent, acknowledged int64 }

// overtaken reports whether another update of the same document was sent after update n had
// been acknowledged. Of updates that were under way at the same time, any may be the last.
func (h *history) overtaken(n int) bool {
	for i := n % hot; i < len(h.updates); i += hot {
		if h.updates[i].sent > h.updates[n].acknowledged {
			return true
		}
	}
	return false
}

// stale counts the documents for which the index does not have the last update.
func (b *bench) stale(ctx context.Context, index string, h *history) int {
	var answer struct {
		Hits struct {
			Hits []struct {
				Source struct{ Title string } `json:"_source"`
			}
		}
	}
	check(b.es.ask(ctx, "POST", "/"+index+"/_search", []byte(`{"size":1000,"_source":["title"]}`), &answer))
	stale := hot - len(answer.Hits.Hits)
	for _, hit := range answer.Hits.Hits {
		edition, _, _ := strings.Cut(hit.Source.Title, " ")
		if h.overtaken(must(strconv.Atoi(edition))) {
			stale++
		}
	}
	return stale
}
