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
	Ctx      context.Context          // its caller's; it is not carried out once its caller has left
	Gone     func() bool              // whether its sender has hung up; nil where there is none
	Run      func(*Transaction) error // may run again after a rollback, and so changes nothing that it was given
	Keys     []report.Key             // documents that Run is expected to look up; it may look up others
	Versions int                      // how many versions Run is expected to take; it may take more or fewer
	Bytes    int                      // about how much it writes
	Size     int                      // how many documents it changes
	Sync     bool                     // whether it must survive a power cut once answered
	Long     bool                     // whether it may take minutes
	Quota    Quota                    // which limits it is held against
	Done     chan error               // buffered for the answer

	of    *Queue     // that it waits in, or was taken from
	since time.Time  // when it was queued
	seq   uint64     // its place in the order of arrival
	Scope *Scope     // what has to be known before it may overtake; nil where that is nothing
	ahead []*Request // those that it overtakes, if it may
	stays bool       // it may not
}

// Queue has the requests that wait for the writer, in the order of their arrival. A
// caller waits for each, so their number is bounded by that of the callers.
//
// After each group with a large request comes a group of small requests, which overtake
// the large ones that still wait: so a small one waits for at most one large one, and
// neither starves. The transaction decides whether one may overtake (mayOvertake).
//
// Where transactions run concurrently, a large delivery is a group of its own, and small
// requests overtake it while it is carried out, too.
type Queue struct {
	Wake       Signal // tells the writer that there is something to look at
	Concurrent bool   // several transactions may run at the same time

	mu         sync.Mutex
	waiting    []*Request
	arrived    uint64
	unanswered map[*Request]struct{} // those that wait, and those that are being carried out
	small      bool                  // the next group is one of small requests
	apart      *Request              // the large delivery that is carried out beside the others
	closed     bool
}

// NewQueue returns an empty queue.
func NewQueue() *Queue { return &Queue{Wake: NewSignal(), unanswered: map[*Request]struct{}{}} }

// Expect has Oldest count something that is no request, from now until answered is called.
func (q *Queue) Expect() (answered func()) {
	r := &Request{of: q, since: time.Now()}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.unanswered[r] = struct{}{}
	return r.isAnswered
}

// Answer tells the caller the result. By then the request no longer counts as unanswered:
// a caller who reads next must not be told that the disk hangs.
func (r *Request) Answer(err error) {
	if r.of != nil {
		r.isAnswered()
	}
	r.Done <- err
}

func (r *Request) isAnswered() {
	r.of.mu.Lock()
	delete(r.of.unanswered, r)
	r.of.mu.Unlock()
}

// Oldest returns for how long the oldest unanswered request has waited, also where its
// caller has left while it was carried out; 0 if there is none. long tells whether any
// unanswered request may take minutes.
func (q *Queue) Oldest() (wait time.Duration, long bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for r := range q.unanswered {
		wait, long = max(wait, time.Since(r.since)), long || r.Long
	}
	return wait, long
}

// Do has r carried out and returns its error. When ctx ends first, it returns the
// context's error, and r may be carried out or not.
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

// Len is how many requests wait to be carried out.
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

// Next waits for requests and returns a group of them. The group is empty when
// timeout or interrupt fired first, and open is false once the queue is closed and
// empty.
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

// Take returns the next group: of what waits, as much as fits into one group with before.
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

// GoesApart tells whether a request is carried out beside others, until EndApart is called.
func (q *Queue) GoesApart(r *Request) bool { return q.Concurrent && r.isLarge() && r.Scope != nil }

// EndApart says that what goes apart has been carried out.
func (q *Queue) EndApart() {
	q.mu.Lock()
	q.apart = nil
	q.mu.Unlock()
	q.Wake.Notify()
}

// pick takes requests in the order of their arrival, up to the bounds of a group. With
// overtake it leaves out the large ones, and what would wait in the database for the one
// that is carried out beside them.
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

// PutBack returns requests to their places, where they wait until what is before them is
// done.
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

func sizeOf(group []*Request) (n int) {
	for _, r := range group {
		n += r.Size
	}
	return n
}

// Close lets no further request in. Those that wait are still carried out.
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
