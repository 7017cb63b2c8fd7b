package journal

import (
	"context"
	"slices"
	"sync"
	"time"

	"riskdex/report"
)

// Bounds of one group commit. A single request may exceed maxGroupBytes.
const (
	maxGroupRequests = 1024
	maxGroupBytes    = 16 << 20
)

// request is one caller's part of a group commit.
type request struct {
	ctx   context.Context          // its caller's; who has left need not be served
	gone  <-chan struct{}          // closed when the sender has given up on it; nil where there is none
	run   func(*transaction) error // may run twice: again after a rollback
	keys  []report.Key             // documents that run will look up; it may be others, too
	takes int                      // how many versions run takes; it may be others, too
	bytes int                      // about how much it writes
	sync  bool                     // whether it must survive a power cut once answered
	long  bool                     // whether it may take minutes
	need  need                     // what it asks of the room that is left
	done  chan error               // has room for the answer
}

// queue holds the requests that wait for the writer, in the order they came.
// Each belongs to a caller that waits for it, so their number is bounded by that
// of the callers.
type queue struct {
	wake bell // rung when there is something for the writer to look at

	mu      sync.Mutex
	waiting []*request
	closed  bool
}

func newQueue() *queue { return &queue{wake: newBell()} }

// do has r carried out and returns its error. When ctx ends first it returns the
// context's error, and r may be carried out or not.
func (q *queue) do(ctx context.Context, r *request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.ctx, r.done = ctx, make(chan error, 1)
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return ErrClosed
	}
	q.waiting = append(q.waiting, r)
	q.mu.Unlock()
	q.wake.ring()

	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		select {
		case err := <-r.done: // it has its answer all the same
			return err
		default:
		}
		q.forget(r)
		return ctx.Err()
	}
}

// forget drops a request whose caller has left, so that what waits does not pile
// up behind a disk that hangs.
func (q *queue) forget(r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, r); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
}

// next waits for requests and returns a group of them. The group is empty when
// timeout or interrupt fired first, and open is false once the queue is closed and
// empty.
func (q *queue) next(timeout <-chan time.Time, interrupt <-chan struct{}) (group []*request, open bool) {
	for {
		if group, open = q.take(nil); len(group) > 0 || !open {
			return group, open
		}
		select {
		case <-q.wake:
		case <-timeout:
			return nil, true
		case <-interrupt:
			return nil, true
		}
	}
}

// take returns what waits, as much of it as may be in one group with those before.
func (q *queue) take(before []*request) (group []*request, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, bytes := 0, bytesOf(before)
	for n < len(q.waiting) && len(before)+n < maxGroupRequests {
		bytes += int64(q.waiting[n].bytes)
		if len(before)+n > 0 && bytes > maxGroupBytes {
			break
		}
		n++
	}
	group = slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return group, n > 0 || !q.closed
}

// close lets no further request in. Those that wait are still carried out.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.wake.ring()
}
