package receiver

import (
	"errors"
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
)

// memory bounds what the bodies of all requests take together. While there is none
// left, the request that came last gives way to the one before it: so some of them
// end, whatever their number, and whoever only began to send does not keep out
// those who have sent most of theirs.
type memory struct {
	mu     sync.Mutex
	free   int64
	shares []*share      // in the order in which their bodies became large
	freed  chan struct{} // closed, and replaced, when something is given back
}

// share is what one request has of the memory. Only its request calls its methods.
type share struct {
	of    *memory
	held  int64
	whole bool   // the body has been read: the request ends soon by itself
	wake  func() // ends a read under way

	giveWay chan struct{} // closed when what is held is wanted by an older request
	told    bool          // it is closed
}

func newMemory(bytes int64) *memory { return &memory{free: bytes, freed: make(chan struct{})} }

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
	patience := time.NewTimer(memoryPatience)
	defer patience.Stop()
	for ; !ok; freed, ok = s.of.take(s, bytes) {
		select {
		case <-freed:
		case <-s.giveWay:
			return errNoMemory
		case <-patience.C:
			return errNoMemory
		}
	}
	return nil
}

// take is one try to grow. Where there is not enough, the youngest request that
// holds something and is younger than s is told to give it back.
func (m *memory) take(s *share, bytes int64) (freed <-chan struct{}, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.told {
		return m.freed, false
	}
	if m.free >= bytes {
		m.free -= bytes
		s.held += bytes
		return nil, true
	}
	for i := len(m.shares) - 1; i >= 0 && m.shares[i] != s; i-- {
		if y := m.shares[i]; y.held > 0 && !y.whole {
			if !y.told {
				y.told = true
				close(y.giveWay)
				y.wake()
			}
			break
		}
	}
	return m.freed, false
}

// done notes that the body has been read, so that nobody waits for it to give way.
func (s *share) done() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.whole = true
}

// mustGiveWay tells whether an older request wants what this one holds.
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
	if s.held > 0 {
		m.free += s.held
		s.held = 0
		close(m.freed)
		m.freed = make(chan struct{})
	}
}
