package journal

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"riskdex/report"
)

// Bounds of one group commit. A single request may exceed maxGroupBytes and
// maxGroupChanges.
const (
	maxGroupRequests = 1024
	maxGroupBytes    = 16 << 20
	maxGroupChanges  = 4096
)

// request is one caller's part of a group commit.
type request struct {
	ctx   context.Context          // its caller's; who has left need not be served
	gone  func() bool              // whether its sender has hung up; nil where there is none
	run   func(*transaction) error // may run again after a rollback, and so changes nothing that it was given
	keys  []report.Key             // documents that run will look up; it may be others, too
	takes int                      // how many versions run takes; it may be others, too
	bytes int                      // about how much it writes
	size  int                      // how many documents it changes
	sync  bool                     // whether it must survive a power cut once answered
	long  bool                     // whether it may take minutes
	need  need                     // what it asks of the room that is left
	done  chan error               // has room for the answer

	of    *queue     // that it waits in, or was taken from
	since time.Time  // when it came there
	seq   uint64     // its place in the order of arrival
	turn  *turn      // what has to be known before it may overtake; nil where that is nothing
	ahead []*request // those that it overtakes, if it may
	stays bool       // it may not
}

// queue holds the requests that wait for the writer, in the order they came.
// Each belongs to a caller that waits for it, so their number is bounded by that
// of the callers.
//
// After each group with a large request goes one of small requests, which overtake the
// large ones that still wait: so a small one waits for one large one at most, and
// neither starves. Whether one may overtake is decided in the transaction (turn).
//
// Where transactions can go on beside each other, a large delivery is a group of its own,
// and small requests overtake it also while it is carried out.
type queue struct {
	wake   bell // rung when there is something for the writer to look at
	beside bool // transactions can go on beside each other

	mu         sync.Mutex
	waiting    []*request
	arrived    uint64
	unanswered map[*request]struct{} // those that wait, and those that are being carried out
	small      bool                  // the next group is one of small requests
	apart      *request              // the large delivery that is carried out beside the others
	closed     bool
}

func newQueue() *queue { return &queue{wake: newBell(), unanswered: map[*request]struct{}{}} }

// expect has oldest count what is no request, from now until answered is called.
func (q *queue) expect() (answered func()) {
	r := &request{of: q, since: time.Now()}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.unanswered[r] = struct{}{}
	return r.isAnswered
}

// answer tells the caller what became of a request. It does not count as waiting any longer
// when the caller knows: who reads next must not be told of a disk that hangs.
func (r *request) answer(err error) {
	if r.of != nil {
		r.isAnswered()
	}
	r.done <- err
}

func (r *request) isAnswered() {
	r.of.mu.Lock()
	delete(r.of.unanswered, r)
	r.of.mu.Unlock()
}

// oldest is for how long the request has been without an answer that has been so longest,
// also where its caller has left while it was carried out; 0 where there is none. long
// tells whether one of them may take minutes.
func (q *queue) oldest() (wait time.Duration, long bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for r := range q.unanswered {
		wait, long = max(wait, time.Since(r.since)), long || r.long
	}
	return wait, long
}

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
	q.arrived++
	r.seq = q.arrived
	r.of, r.since = q, time.Now()
	q.unanswered[r] = struct{}{}
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
		delete(q.unanswered, r)
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
	if q.small || len(before) > 0 || q.apart != nil {
		group = q.pick(before, true)
	}
	if len(group) == 0 && q.apart == nil {
		group = q.pick(before, false)
	}
	if len(group) > 0 && q.apart == nil {
		q.small = slices.ContainsFunc(group, (*request).isLarge)
		if q.goesApart(group[0]) {
			q.apart = group[0]
		}
	}
	return group, len(group) > 0 || !q.closed || q.apart != nil
}

// goesApart tells whether a request is carried out beside others, until end is called.
func (q *queue) goesApart(r *request) bool { return q.beside && r.isLarge() && r.turn != nil }

// end is for who has carried out what goes apart.
func (q *queue) end() {
	q.mu.Lock()
	q.apart = nil
	q.mu.Unlock()
	q.wake.ring()
}

// pick takes requests in the order of their arrival, up to the bounds of a group. With
// overtake it leaves out the large ones, and what would wait in the database for the one
// that is carried out beside them.
func (q *queue) pick(before []*request, overtake bool) (group []*request) {
	var left, passed []*request
	if q.apart != nil {
		passed = append(passed, q.apart)
	}
	n, bytes, size, alone := len(before), bytesOf(before), sizeOf(before), false
	for i, r := range q.waiting {
		if overtake && (r.isLarge() || r.stays || q.apart != nil && r.names(q.apart.turn)) {
			left, passed = append(left, r), append(passed, r)
			continue
		}
		bytes, size = bytes+int64(r.bytes), size+r.size
		if n == maxGroupRequests || n > 0 && (bytes > maxGroupBytes || size > maxGroupChanges || alone || q.goesApart(r)) {
			left = append(left, q.waiting[i:]...)
			break
		}
		n, alone = n+1, q.goesApart(r)
		r.ahead = slices.Clip(passed)
		group = append(group, r)
	}
	q.waiting = left
	return group
}

// putBack has requests wait where they were, until what is before them is done.
func (q *queue) putBack(list []*request) {
	if len(list) == 0 {
		return
	}
	for _, r := range list {
		r.stays, r.ahead = true, nil
	}
	q.mu.Lock()
	q.waiting = append(q.waiting, list...)
	slices.SortFunc(q.waiting, func(a, b *request) int { return cmp.Compare(a.seq, b.seq) })
	q.mu.Unlock()
	q.wake.ring()
}

func sizeOf(group []*request) (n int) {
	for _, r := range group {
		n += r.size
	}
	return n
}

// close lets no further request in. Those that wait are still carried out.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.wake.ring()
}

// without returns the requests of a group that are not in list.
func without(group, list []*request) []*request {
	if len(list) == 0 {
		return group
	}
	return slices.DeleteFunc(slices.Clone(group), func(r *request) bool { return slices.Contains(list, r) })
}
