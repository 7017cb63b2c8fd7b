package commit

import (
	"context"
	"fmt"
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

// A delivery with at least so many documents or bytes is large.
const (
	LargeRequest = 512
	largeBytes   = 4 << 20
)

// Task is what a request does. The writer executes it in its transaction, and once more after a rollback,
// so Execute sets its results anew and leaves its inputs as they are. Its caller reads the results after
// the answer, and not at all if it does not wait for that.
type Task interface {
	Execute(tx *Transaction) error
}

// Request is one caller's part of a group commit.
type Request struct {
	Ctx      context.Context // of the caller; once it ends, the request is not executed
	Gone     func() bool     // reports whether the sender has hung up; nil without a sender
	Task     Task            // nil only tries whether the journal can be written
	Kind     report.Kind     // of its first document; a delivery of several kinds waits in the line of that
	Keys     []report.Key    // documents that it will probably look up
	Changes  []report.Change // of a delivery
	Versions int             // how many a delivery will probably take; 0 of anything else
	Bytes    int             // roughly how much it writes
	Size     int             // how many documents it changes
	Sync     bool            // its effect must survive a power cut once it is answered
	Long     bool            // it may take minutes
	Quota    Quota           // which limits apply to it
	Done     chan error      // gets the answer; buffered

	of    *Queue    // the queue in which it waits, or from which it was taken
	since time.Time // when it was queued
}

// IsLarge reports whether r is a large delivery.
func (r *Request) IsLarge() bool {
	return r.Versions > 0 && (r.Size >= LargeRequest || r.Bytes >= largeBytes)
}

// line is what waits in the order of its arrival: the deliveries of a kind, of which the later one is
// newer, or whatever else is about a kind, which goes by versions.
type line struct {
	kind     report.Kind
	delivery bool
}

func (r *Request) line() line { return line{r.Kind, r.Versions > 0} }

// Queue has the requests that wait for the writer, in a line for the deliveries of each kind and one for
// the rest of its requests. A caller waits for each request, so the callers bound their number. The
// methods may be called concurrently.
//
// Lines take turns: each group begins with the first request of another one, and gets what else fits of
// all lines. So a delivery waits for those of its kind that came before it, and between two of them for
// at most one group of each other line.
//
// With Concurrent set, a large delivery is a group of its own. While it is executed, no other request
// of its kind is, since that might wait for it in the database.
type Queue struct {
	Wake       Signal // tells the writer to look at the queue
	Concurrent bool   // several transactions may run at the same time

	mu         sync.Mutex
	waiting    map[line][]*Request
	turns      []line                // the one whose turn is next comes first
	unanswered map[*Request]struct{} // waiting or being executed
	apart      map[report.Kind]bool  // of which a large delivery is executed beside other groups
	closed     bool
}

// NewQueue returns an empty queue.
func NewQueue() *Queue {
	return &Queue{
		Wake: NewSignal(), waiting: map[line][]*Request{}, unanswered: map[*Request]struct{}{}, apart: map[report.Kind]bool{},
	}
}

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
	r.of, r.since = q, time.Now()
	q.add(r)
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

// add appends r to its line. The caller holds mu.
func (q *Queue) add(r *Request) {
	l := r.line()
	if _, ok := q.waiting[l]; !ok {
		q.turns = append(q.turns, l)
	}
	q.waiting[l] = append(q.waiting[l], r)
	q.unanswered[r] = struct{}{}
}

// Len returns the number of waiting requests.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.len()
}

func (q *Queue) len() (n int) {
	for _, list := range q.waiting {
		n += len(list)
	}
	return n
}

// forget drops a request whose caller has left, so that what waits does not pile
// up behind a disk that hangs.
func (q *Queue) forget(r *Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.waiting[r.line()]
	if i := slices.Index(list, r); i >= 0 {
		q.waiting[r.line()] = slices.Delete(list, i, i+1)
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
	room := roomBeside(before)
	turn := -1 // the line with which the group begins
	for i, l := range q.turns {
		if q.apart[l.kind] {
			continue
		}
		n := 0
		for _, r := range q.waiting[l] {
			alone := q.GoesApart(r)
			if alone && len(group) > 0 || !room.take(r) {
				break
			}
			n++
			group = append(group, r)
			if turn < 0 {
				turn = i
			}
			if alone {
				q.apart[l.kind] = true
				break
			}
		}
		q.waiting[l] = slices.Delete(q.waiting[l], 0, n)
		if q.apart[l.kind] {
			break
		}
	}
	if turn >= 0 && len(before) == 0 {
		l := q.turns[turn]
		q.turns = append(slices.Delete(q.turns, turn, turn+1), l)
	}
	return group, len(group) > 0 || !q.closed || len(q.apart) > 0
}

// room is what still fits into a group. Its first request always does.
type room struct {
	requests, size int
	bytes          int64
}

func roomBeside(group []*Request) room {
	left := room{requests: maxGroupRequests, size: MaxGroupChanges, bytes: MaxGroupBytes}
	for _, r := range group {
		left = left.beside(r)
	}
	return left
}

func (left room) beside(r *Request) room {
	return room{requests: left.requests - 1, size: left.size - r.Size, bytes: left.bytes - int64(r.Bytes)}
}

// take reports whether r fits, and takes its room if it does.
func (left *room) take(r *Request) bool {
	after := left.beside(r)
	if left.requests < maxGroupRequests && (after.requests < 0 || after.size < 0 || after.bytes < 0) {
		return false
	}
	*left = after
	return true
}

// GoesApart reports whether r is executed beside other groups, until EndApart is called.
func (q *Queue) GoesApart(r *Request) bool { return q.Concurrent && r.IsLarge() }

// EndApart tells the queue that the large delivery of a kind was executed.
func (q *Queue) EndApart(kind report.Kind) {
	q.mu.Lock()
	delete(q.apart, kind)
	q.mu.Unlock()
	q.Wake.Notify()
}

// Close rejects new requests. Waiting ones are still executed.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.Wake.Notify()
}

// StallAfter is for how long a request may be without an answer before the journal says
// that it is not ready. Its disk, or its server, may hang without ever failing.
const StallAfter = 5 * time.Second

// Stalled returns an error while the journal answers nobody. Deliveries are still let in: the
// stall may end before their senders give up, and some senders never repeat a delivery.
func (q *Queue) Stalled() error {
	if wait, _ := q.Oldest(); wait >= StallAfter {
		return fmt.Errorf("the journal has not answered a request for %v: its disk or server hangs or is too slow; "+
			"deliveries wait up to 30 seconds and then get 503; fix the disk or the server, and the journal goes on by itself", wait.Round(time.Second))
	}
	return nil
}

// BytesOf is about how much a group writes.
func BytesOf(group []*Request) int64 {
	n := 0
	for _, r := range group {
		n += r.Bytes
	}
	return int64(n)
}

// NeedsSync reports whether a group must survive a power cut once it is answered. An empty one,
// which is a test write, must.
func NeedsSync(group []*Request) bool {
	for _, r := range group {
		if r.Sync {
			return true
		}
	}
	return len(group) == 0
}
