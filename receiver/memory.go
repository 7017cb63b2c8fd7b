package receiver

import (
	"errors"
	"sync"
	"time"
)

// Why a delivery is not taken, though nothing is wrong with it.
var (
	errNoMemory   = errors.New("too many large bodies at once")
	errOverMemory = errors.New("it takes more memory than all bodies may")
)

const (
	// smallBody is what every request may hold beside the memory that all share, so
	// that small deliveries never wait for large ones.
	smallBody = 16 << 10
	// memoryPatience is how long a request waits for memory.
	memoryPatience = 10 * time.Second
	// stalledAfter is how long a request may take to bring its next quarter of what
	// it holds, while others wait for it.
	stalledAfter = 5 * time.Second
	// reclaimEvery is how often each who waits looks at the others.
	reclaimEvery = time.Second
)

// memory bounds what the bodies of all requests take together, with what is made of
// them. Who lacks some waits for it, for a while. Two rules see to it that the wait ends:
//
//   - What the largest body needs stays free for the oldest request. So that one always
//     goes on, even over a bad line; when it has ended, the next is the oldest.
//   - While anybody waits, whoever has stalled gives way, but for the oldest. So memory
//     is held by sending, and not by having sent.
type memory struct {
	mu     sync.Mutex
	size   int64
	kept   int64 // for the oldest
	free   int64
	shares []*share      // in the order in which their bodies became large
	freed  chan struct{} // closed, and replaced, when there may be more for somebody
}

// newMemory returns a memory of size bytes, of which a body takes largest at most. Where
// that is more than half, half is kept for the oldest: the others need some as well.
func newMemory(size, largest int64) *memory {
	return &memory{size: size, kept: min(largest, size/2), free: size, freed: make(chan struct{})}
}

// share is what one request has of the memory: nothing, while it holds little. Only its
// request calls its methods.
type share struct {
	of   *memory
	wake func() // ends a read of the body under way; anybody may call it, until the share is left
	own  int64  // what is left of smallBody

	waited time.Duration // for more, in all

	entered bool
	held    int64
	read    bool      // the body has been read: nothing more is to come
	waits   bool      // and so cannot bring anything
	told    bool      // it has to give way
	since   time.Time // when it had more, or its last quarter had come
	came    int64     // after that
}

func (m *memory) share(wake func()) *share { return &share{of: m, wake: wake, own: smallBody} }

// grow takes bytes more, and waits for them if need be. The error is errNoMemory when
// there are none in time, or the request has to give way.
func (s *share) grow(bytes int64) error {
	own := min(bytes, s.own)
	s.own -= own
	if bytes -= own; bytes == 0 {
		return nil
	}
	freed, err := s.of.take(s, bytes)
	if freed == nil {
		return err
	}
	began := time.Now()
	defer func() { s.waited += time.Since(began) }()
	patience, look := time.NewTimer(memoryPatience), time.NewTicker(reclaimEvery)
	defer patience.Stop()
	defer look.Stop()
	for ; freed != nil; freed, err = s.of.take(s, bytes) {
		select {
		case <-freed:
		case <-look.C:
			s.of.reclaim(time.Now())
		case <-patience.C:
			return errNoMemory
		}
	}
	return err
}

// take is one try to grow. freed is nil when that has ended.
func (m *memory) take(s *share, bytes int64) (freed <-chan struct{}, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !s.entered {
		s.entered = true
		m.shares = append(m.shares, s)
	}
	switch {
	case s.told:
		return nil, errNoMemory
	case s.held+bytes > m.size:
		return nil, errOverMemory
	case m.free-bytes >= m.keptFrom(s):
		m.free -= bytes
		s.held += bytes
		s.waits = false
		s.since, s.came = time.Now(), 0
		return nil, nil
	}
	s.waits = true
	return m.freed, nil
}

// keptFrom is how much s has to leave free.
func (m *memory) keptFrom(s *share) int64 {
	if oldest := m.shares[0]; s != oldest {
		return max(0, m.kept-oldest.held)
	}
	return 0
}

// reclaim has those who have stalled give way.
func (m *memory) reclaim(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.shares[1:] {
		if !s.told && !s.read && !s.waits && now.Sub(s.since) >= stalledAfter {
			s.told = true
			s.wake()
		}
	}
}

// brought notes that something more of the body has come.
func (s *share) brought(bytes int64) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.came += bytes; s.came >= s.held/4 {
		s.since, s.came = time.Now(), 0
	}
}

// done notes that the body has been read, so that nobody ends a read of it.
func (s *share) done() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.read = true
}

// mustGiveWay tells whether another request wants what this one holds.
func (s *share) mustGiveWay() bool {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	return s.told
}

// giveBack returns some of what the request holds beyond its own.
func (s *share) giveBack(bytes int64) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.release(s, min(bytes, s.held))
}

// leave gives everything back. It may be called again.
func (s *share) leave() {
	m := s.of
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, other := range m.shares {
		if other == s {
			m.shares = append(m.shares[:i], m.shares[i+1:]...)
			m.release(s, s.held)
			return
		}
	}
}

func (m *memory) release(s *share, bytes int64) {
	s.held -= bytes
	m.free += bytes
	close(m.freed)
	m.freed = make(chan struct{})
}
