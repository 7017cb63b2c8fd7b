package indexer

import (
	"cmp"
	"context"
	"sync"
	"time"

	"riskdex/elastic"
)

// refreshed is the result of refreshing a lane's index.
type refreshed struct {
	lane   *lane
	took   time.Duration
	failed error // nil if searches see everything that was written before
}

// refresher refreshes indices, each at most once at a time. It needs no worker, and no task waits
// for it. It belongs to Run's goroutine.
type refresher struct {
	ctx     context.Context
	stop    context.CancelFunc // cancels refreshes under way; the index's own interval replaces them
	ended   chan refreshed     // buffers one for each lane, so that no send waits
	running sync.WaitGroup
}

func newRefresher(ctx context.Context, lanes int) *refresher {
	r := &refresher{ended: make(chan refreshed, lanes)}
	r.ctx, r.stop = context.WithCancel(ctx)
	return r
}

func (r *refresher) end() {
	r.stop()
	r.running.Wait()
}

// refreshDue starts the refreshes that are due.
func (d *dispatcher) refreshDue(now time.Time) {
	for _, l := range d.all {
		at, ok := l.refreshes(d.cfg)
		if !ok || now.Before(at) {
			continue
		}
		l.beginRefresh()
		index := cmp.Or(l.index, d.indices.Alias(l.kind))
		d.refresher.running.Go(func() {
			began := time.Now()
			failed := d.client.Refresh(d.refresher.ctx, index)
			d.refresher.ended <- refreshed{l, time.Since(began), failed}
		})
	}
}

// noteRefresh notes the result of a refresh. A failure is not a trouble: writes become visible at
// the index's own interval.
func (d *dispatcher) noteRefresh(r refreshed) {
	now := time.Now()
	d.metrics.refreshed(r.lane.kind, r.took, r.failed == nil)
	if r.lane.endRefresh(r, now, d.cfg) {
		why := elastic.AnswerOf(r.failed)
		d.log.Warn("cannot refresh the index: what is written to it becomes visible when it refreshes by itself",
			"index", d.indices.Alias(r.lane.kind), "error_type", why.ErrorType, "detail", why.Detail)
	}
}
