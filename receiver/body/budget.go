package body

import (
	"errors"
	"slices"
	"sync"
	"time"
)

var (
	// ErrBusy is returned if other bodies have the memory that a body needs.
	ErrBusy = errors.New("too many large bodies at once")
	// ErrOverBudget is returned if a request needs more memory than the whole budget.
	ErrOverBudget = errors.New("it takes more memory than all bodies may")
)

const (
	// smallBody is how many bytes every request may hold beside the budget.
	smallBody = 16 << 10
	// budgetTimeout bounds one wait of a request for memory.
	budgetTimeout = 10 * time.Second
	// stalledAfter is how long a request may take to receive the next quarter of what it
	// holds while others wait for memory.
	stalledAfter = 5 * time.Second
	// evictEvery is how often each request that waits looks for stalled ones.
	evictEvery = time.Second
)

// Budget bounds the memory of all bodies together, including what is made of them: those of requests, and
// those that others hold ([Budget.Hold]).
// A request that needs more than is free waits. Three rules end that wait:
//
//   - The oldest request always gets what the largest body needs, up to half of the budget, so it
//     ends, even over a bad line; then the next one is the oldest.
//   - While the oldest waits for more than that, no other gets any, and those that wait for more
//     themselves give up what they have.
//   - While any request waits, others that have stalled are evicted, except the oldest. So a
//     request keeps memory only as long as its body arrives.
//
// Others that hold bodies wait in the same way, and are never the oldest: what is kept for a request
// stays free of them, however long they take.
//
// It may be used concurrently.
type Budget struct {
	mu           sync.Mutex
	size         int64
	kept         int64 // for the oldest
	free         int64
	reservations []*reservation // in the order in which they exceeded smallBody; the oldest is the first
	freed        chan struct{}  // closed and replaced when a waiting request should look again
}

// NewBudget returns a budget of size bytes, for requests that need at most largest bytes each. It
// keeps at most half of its size free for the oldest request, since the others need memory as well.
func NewBudget(size, largest int64) *Budget {
	return &Budget{size: size, kept: min(largest, size/2), free: size, freed: make(chan struct{})}
}

// reservation is how much of the budget one request has: nothing while it has little. Only the
// goroutine of the request calls its methods.
type reservation struct {
	of        *Budget
	interrupt func() // ends a read of the body under way; called by any goroutine, until release
	allowance int64  // what is left of smallBody

	patience time.Duration   // bounds one wait for memory
	done     <-chan struct{} // ends it, too; may be nil

	waited time.Duration // for memory, in all

	// The rest is guarded by of.mu.
	holds    bool // it is of a holder, and never listed
	listed   bool // in of.reservations
	held     int64
	complete bool  // the body has been read
	waiting  bool  // for memory, so that nothing can arrive
	wants    int64 // for how much
	evicted  bool
	since    time.Time // of the last grant, or of the last quarter that arrived
	arrived  int64     // bytes after that
}

func (b *Budget) reserve(interrupt func()) *reservation {
	return &reservation{of: b, interrupt: interrupt, allowance: smallBody, patience: budgetTimeout}
}

// grow reserves more bytes, and waits for them if need be. The error is ErrOverBudget, or
// ErrBusy when the wait took too long or the reservation is evicted.
func (c *reservation) grow(bytes int64) error {
	allowed := min(bytes, c.allowance)
	c.allowance -= allowed
	if bytes -= allowed; bytes == 0 {
		return nil
	}
	freed, err := c.of.grant(c, bytes)
	if freed == nil {
		return err
	}
	began := time.Now()
	defer func() { c.waited += time.Since(began) }()
	timeout, evict := time.NewTimer(c.patience), time.NewTicker(evictEvery)
	defer timeout.Stop()
	defer evict.Stop()
	for ; freed != nil; freed, err = c.of.grant(c, bytes) {
		select {
		case <-freed:
		case <-evict.C:
			c.of.evictStalled(time.Now())
		case <-timeout.C:
			return ErrBusy
		case <-c.done:
			return ErrBusy
		}
	}
	return err
}

// grant is one attempt of grow. Where it returns a channel, the reservation has to wait for it.
func (b *Budget) grant(c *reservation, bytes int64) (freed <-chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !c.listed && !c.holds {
		c.listed = true
		b.reservations = append(b.reservations, c)
	}
	switch {
	case c.evicted:
		return nil, ErrBusy
	case c.held+bytes > b.size:
		return nil, ErrOverBudget
	case b.free-bytes >= b.keptFrom(c):
		b.free -= bytes
		c.held += bytes
		c.waiting, c.wants = false, 0
		c.since, c.arrived = time.Now(), 0
		return nil, nil
	}
	oldest := b.oldest()
	if c != oldest && c.held > 0 && oldest.wants > b.free {
		return nil, ErrBusy
	}
	if !c.waiting && c == oldest {
		defer b.wake()
	}
	c.waiting, c.wants = true, bytes
	return b.freed, nil
}

// keptFrom returns how many bytes c has to leave free for the oldest.
func (b *Budget) keptFrom(c *reservation) int64 {
	if oldest := b.oldest(); c != oldest {
		return max(0, b.kept-oldest.held, oldest.wants)
	}
	return 0
}

// oldest returns the oldest request, or one that has and needs nothing if there is none.
func (b *Budget) oldest() *reservation {
	if len(b.reservations) == 0 {
		return &reservation{}
	}
	return b.reservations[0]
}

// evictStalled interrupts the requests that have stalled. They give their memory back when
// they have answered.
func (b *Budget) evictStalled(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, c := range b.reservations {
		if i > 0 && !c.evicted && !c.complete && !c.waiting && now.Sub(c.since) >= stalledAfter {
			c.evicted = true
			c.interrupt()
		}
	}
}

// received notes that more of the body has arrived.
func (c *reservation) received(bytes int64) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.arrived += bytes; c.arrived >= c.held/4 {
		c.since, c.arrived = time.Now(), 0
	}
}

// finish notes that the body has been read, so that it cannot stall and is not interrupted.
func (c *reservation) finish() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.complete = true
}

func (c *reservation) isEvicted() bool {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.evicted
}

// shrink gives some bytes back, as far as they are held of the budget.
func (c *reservation) shrink(bytes int64) {
	b := c.of
	b.mu.Lock()
	defer b.mu.Unlock()
	b.release(c, min(bytes, c.held))
}

// release gives everything back. It may be called again.
func (c *reservation) release() {
	b := c.of
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.listed || c.held > 0 {
		c.listed = false
		b.reservations = slices.DeleteFunc(b.reservations, func(other *reservation) bool { return other == c })
		b.release(c, c.held)
	}
}

func (b *Budget) release(c *reservation, bytes int64) {
	c.held -= bytes
	b.free += bytes
	b.wake()
}

// wake has all that wait look again.
func (b *Budget) wake() {
	close(b.freed)
	b.freed = make(chan struct{})
}
