package receiver

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// Why a body is not read to its end, though nothing is wrong with it.
var errNoMemory = errors.New("too many large bodies at once")

const (
	// smallBody is what every request may hold beside the memory that all share, so
	// that small deliveries never wait for large ones.
	smallBody = 16 << 10
	// memoryPatience is how long a request waits for memory.
	memoryPatience = 10 * time.Second
	// stalledAfter is how long a request may take to bring its next quarter of what
	// it holds, while others wait for it.
	stalledAfter = 5 * time.Second
	// reclaimEvery is how often those who wait have the others looked at.
	reclaimEvery = time.Second
)

// memory bounds what the bodies of all requests take together. While there is none
// left, requests give way to those that wait:
//
//   - Who has stalled gives way to anybody, so that memory is held by sending, and
//     not by having sent. The oldest, up to half of the memory, are spared: they need
//     no more than the pace that all must keep, and end even over a bad line.
//   - Then the request that came last gives way to the one before it. So some of them
//     end, whatever their number, and whoever only began to send does not keep out
//     those who have sent most of theirs.
type memory struct {
	mu      sync.Mutex
	size    int64
	free    int64
	leaving int64         // held by those who have been told to give way
	wanted  int64         // by all who wait
	looked  time.Time     // when those who have stalled were looked for
	shares  []*share      // in the order in which their bodies became large
	freed   chan struct{} // closed, and replaced, when something is given back
}

// share is what one request has of the memory. Only its request calls its methods.
type share struct {
	of     *memory
	held   int64
	wanted int64  // while it waits, or has waited in vain
	whole  bool   // the body has been read: the request ends soon by itself
	wake   func() // ends a read under way

	since time.Time // when it had more, or its last quarter had come
	came  int64     // after that

	giveWay chan struct{} // closed when what is held is wanted by another request
	told    bool          // it is closed
}

func newMemory(bytes int64) *memory {
	return &memory{size: bytes, free: bytes, freed: make(chan struct{})}
}

// enter begins the share of a request. wake must end a read of its body that is
// under way; it may be called at any time until leave, by anybody.
func (m *memory) enter(wake func()) *share {
	s := &share{of: m, wake: wake, giveWay: make(chan struct{})}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shares = append(m.shares, s)
	return s
}

// grow takes bytes more, and waits for them if need be. The error is errNoMemory
// when the request has to give way.
func (s *share) grow(bytes int64) error {
	freed, ok := s.of.take(s, bytes)
	if ok {
		return nil
	}
	patience, look := time.NewTimer(memoryPatience), time.NewTicker(reclaimEvery)
	defer patience.Stop()
	defer look.Stop()
	for ; !ok; freed, ok = s.of.take(s, bytes) {
		select {
		case <-freed:
		case <-look.C:
		case <-s.giveWay:
			return errNoMemory
		case <-patience.C:
			return errNoMemory
		}
	}
	return nil
}

// take is one try to grow. Where there is not enough, others are told to give back
// what they hold: first those who have stalled, then those who are younger than s.
func (m *memory) take(s *share, bytes int64) (freed <-chan struct{}, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.told {
		return m.freed, false
	}
	if m.free >= bytes {
		m.free -= bytes
		s.held += bytes
		m.want(s, 0)
		s.since, s.came = time.Now(), 0
		return nil, true
	}
	m.want(s, bytes)
	if now := time.Now(); now.Sub(m.looked) >= reclaimEvery {
		m.looked = now
		m.reclaim(now)
	}
	m.overtake(s)
	return m.freed, false
}

// overtake has the youngest of those who are younger than s give way, unless all of
// them together do not have enough for it.
func (m *memory) overtake(s *share) {
	enough := m.free + m.leaving
	for i, young := range slices.Backward(m.shares) {
		switch {
		case enough >= s.wanted:
			for _, y := range m.shares[i+1:] {
				m.tell(y)
			}
			return
		case young == s:
			return
		case young.canGive():
			enough += young.held
		}
	}
}

// want notes how much s waits for.
func (m *memory) want(s *share, bytes int64) {
	m.wanted += bytes - s.wanted
	s.wanted = bytes
}

// reclaim has the youngest of those who have stalled give way, as far as memory is
// wanted.
func (m *memory) reclaim(now time.Time) {
	held := m.size - m.free // by the shares up to i
	for i := len(m.shares) - 1; i >= 0 && held > m.size/2 && m.free+m.leaving < m.wanted; i-- {
		s := m.shares[i]
		if s.wanted == 0 && now.Sub(s.since) >= stalledAfter { // who waits cannot bring anything
			m.tell(s)
		}
		held -= s.held
	}
}

// canGive tells whether a request would give something back if it were told to, and
// not soon as it is.
func (s *share) canGive() bool { return s.held > 0 && !s.whole && !s.told }

// tell has a request give back what it holds, if it can.
func (m *memory) tell(s *share) {
	if !s.canGive() {
		return
	}
	s.told = true
	m.leaving += s.held
	close(s.giveWay)
	s.wake()
}

// brought notes that something more of the body has come.
func (s *share) brought(bytes int64) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.came += bytes; s.came >= s.held/4 {
		s.since, s.came = time.Now(), 0
	}
}

// done notes that the body has been read, so that nobody waits for it to give way.
func (s *share) done() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.whole = true
}

// mustGiveWay tells whether another request wants what this one holds.
func (s *share) mustGiveWay() bool {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	return s.told
}

// leave gives everything back. It may be called again.
func (s *share) leave() {
	m := s.of
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, other := range m.shares {
		if other == s {
			m.shares = append(m.shares[:i], m.shares[i+1:]...)
			break
		}
	}
	m.want(s, 0)
	if s.held > 0 {
		if s.told {
			m.leaving -= s.held
		}
		m.free += s.held
		s.held = 0
		close(m.freed)
		m.freed = make(chan struct{})
	}
}
