package commit

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"riskdex/journal"
	"riskdex/report"
)

// Bounds of one group commit. A single request may exceed MaxGroupBytes and
// MaxGroupChanges.
const (
	maxGroupRequests = 1024
	MaxGroupBytes    = 16 << 20
	MaxGroupChanges  = 4096
)

// Request is one caller's part of a group commit.
type Request struct {
	Ctx      context.Context          // of the caller; once it ends, the request is not executed
	Gone     func() bool              // reports whether the sender has hung up; nil without a sender
	Run      func(*Transaction) error // may run again after a rollback, so it must not change its inputs
	Keys     []report.Key             // documents that Run will probably look up
	Versions int                      // how many versions Run will probably take
	Bytes    int                      // roughly how much it writes
	Size     int                      // how many documents it changes
	Sync     bool                     // its effect must survive a power cut once it is answered
	Long     bool                     // it may take minutes
	Quota    Quota                    // which limits apply to it
	Done     chan error               // gets the answer; buffered

	of    *Queue     // the queue in which it waits, or from which it was taken
	since time.Time  // when it was queued
	seq   uint64     // its position in the order of arrival
	Scope *Scope     // the documents that decide what it may overtake; nil if it may overtake anything
	ahead []*Request // the requests that it would overtake
	stays bool       // it must not overtake
}

// Queue has the requests that wait for the writer, in the order of their arrival. A caller waits
// for each of them, so the callers bound their number. The methods may be called concurrently.
//
// After each group with a large request comes a group of small requests, which overtake the large
// ones that still wait. So a small request waits for at most one large one, and neither starves.
// The transaction decides which requests may overtake (mayGoFirst).
//
// With concurrent transactions, a large delivery is a group of its own, and small requests also
// overtake it while it is executed.
type Queue struct {
	Wake       Signal // tells the writer to look at the queue
	Concurrent bool   // several transactions may run at the same time

	mu         sync.Mutex
	waiting    []*Request
	arrived    uint64
	unanswered map[*Request]struct{} // waiting or being executed
	small      bool                  // the next group has only small requests
	apart      *Request              // the large delivery that is executed beside the others
	closed     bool
}

// NewQueue returns an empty queue.
func NewQueue() *Queue { return &Queue{Wake: NewSignal(), unanswered: map[*Request]struct{}{}} }

// Expect makes Oldest count something that is not a request, until answered is called.
func (q *Queue) Expect() (answered func()) {
	r := &Request{of: q, since: time.Now()}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.unanswered[r] = struct{}{}
	return r.markAnswered
}

// Answer returns the result to the caller. The request stops counting as unanswered before that:
// a caller that reads next must not be told that the disk hangs.
func (r *Request) Answer(err error) {
	if r.of != nil {
		r.markAnswered()
	}
	r.Done <- err
}

func (r *Request) markAnswered() {
	r.of.mu.Lock()
	delete(r.of.unanswered, r)
	r.of.mu.Unlock()
}

// Oldest returns how long the oldest unanswered request has waited; 0 if there is none. A request
// whose caller left during its execution still counts. long reports whether any of them may take
// minutes.
func (q *Queue) Oldest() (wait time.Duration, long bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for r := range q.unanswered {
		wait, long = max(wait, time.Since(r.since)), long || r.Long
	}
	return wait, long
}

// Do queues r, waits until it is executed and returns its error. If ctx ends first, Do returns the
// context's error, and r may still be executed.
func (q *Queue) Do(ctx context.Context, r *Request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.Ctx, r.Done = ctx, make(chan error, 1)
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return journal.ErrClosed
	}
	q.arrived++
	r.seq = q.arrived
	r.of, r.since = q, time.Now()
	q.unanswered[r] = struct{}{}
	q.waiting = append(q.waiting, r)
	q.mu.Unlock()
	q.Wake.Notify()

	select {
	case err := <-r.Done:
		return err
	case <-ctx.Done():
		select {
		case err := <-r.Done: // it has its answer all the same
			return err
		default:
		}
		q.forget(r)
		return ctx.Err()
	}
}

// Len returns the number of waiting requests.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// forget drops a request whose caller has left, so that what waits does not pile
// up behind a disk that hangs.
func (q *Queue) forget(r *Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, r); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		delete(q.unanswered, r)
	}
}

// Next waits for requests and returns the next group. The group is empty if timeout or interrupt
// fires first. open is false once the queue is closed and empty.
func (q *Queue) Next(timeout <-chan time.Time, interrupt <-chan struct{}) (group []*Request, open bool) {
	for {
		if group, open = q.Take(nil); len(group) > 0 || !open {
			return group, open
		}
		select {
		case <-q.Wake:
		case <-timeout:
			return nil, true
		case <-interrupt:
			return nil, true
		}
	}
}

// Take returns the next group without waiting: as many requests as fit into one group together with
// before.
func (q *Queue) Take(before []*Request) (group []*Request, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.small || len(before) > 0 || q.apart != nil {
		group = q.pick(before, true)
	}
	if len(group) == 0 && q.apart == nil {
		group = q.pick(before, false)
	}
	if len(group) > 0 && q.apart == nil {
		q.small = slices.ContainsFunc(group, (*Request).isLarge)
		if q.GoesApart(group[0]) {
			q.apart = group[0]
		}
	}
	return group, len(group) > 0 || !q.closed || q.apart != nil
}

// GoesApart reports whether r is executed beside other groups, until EndApart is called.
func (q *Queue) GoesApart(r *Request) bool { return q.Concurrent && r.isLarge() && r.Scope != nil }

// EndApart tells the queue that the request beside the others was executed.
func (q *Queue) EndApart() {
	q.mu.Lock()
	q.apart = nil
	q.mu.Unlock()
	q.Wake.Notify()
}

// pick takes requests in the order of their arrival, up to the bounds of a group. With overtake it
// leaves out large requests, and those that would wait in the database for the one that is executed
// beside them.
func (q *Queue) pick(before []*Request, overtake bool) (group []*Request) {
	var left, passed []*Request
	if q.apart != nil {
		passed = append(passed, q.apart)
	}
	n, bytes, size, alone := len(before), BytesOf(before), sizeOf(before), false
	for i, r := range q.waiting {
		if overtake && (r.isLarge() || r.stays || q.apart != nil && r.names(q.apart.Scope)) {
			left, passed = append(left, r), append(passed, r)
			continue
		}
		bytes, size = bytes+int64(r.Bytes), size+r.Size
		if n == maxGroupRequests || n > 0 && (bytes > MaxGroupBytes || size > MaxGroupChanges || alone || q.GoesApart(r)) {
			left = append(left, q.waiting[i:]...)
			break
		}
		n, alone = n+1, q.GoesApart(r)
		r.ahead = slices.Clip(passed)
		group = append(group, r)
	}
	q.waiting = left
	return group
}

// PutBack returns requests to their positions, where they wait for those before them.
func (q *Queue) PutBack(list []*Request) {
	if len(list) == 0 {
		return
	}
	for _, r := range list {
		r.stays, r.ahead = true, nil
	}
	q.mu.Lock()
	q.waiting = append(q.waiting, list...)
	slices.SortFunc(q.waiting, func(a, b *Request) int { return cmp.Compare(a.seq, b.seq) })
	q.mu.Unlock()
	q.Wake.Notify()
}

// KeepOrder is called between two parts of a group that are executed one after the other: what
// went back to the queue from the first part must not be overtaken by the second one.
func (q *Queue) KeepOrder(first, second []*Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range first {
		if !slices.Contains(q.waiting, r) {
			continue
		}
		for _, later := range second {
			later.ahead = append(slices.Clip(later.ahead), r)
		}
	}
}

func sizeOf(group []*Request) (n int) {
	for _, r := range group {
		n += r.Size
	}
	return n
}

// Close rejects new requests. Waiting ones are still executed.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.Wake.Notify()
}

// Without returns the requests of a group that are not in list.
func Without(group, list []*Request) []*Request {
	if len(list) == 0 {
		return group
	}
	return slices.DeleteFunc(slices.Clone(group), func(r *Request) bool { return slices.Contains(list, r) })
}
