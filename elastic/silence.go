package elastic

import (
	"sync"
	"time"
)

// silence is since when requests have been under way of which none has ended.
type silence struct {
	mu       sync.Mutex
	requests int
	since    time.Time
}

func (s *silence) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests++; s.requests == 1 {
		s.since = time.Now()
	}
}

func (s *silence) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests--
	s.since = time.Now()
}

// SilentSince returns since when requests of this client have waited for an answer while none came; the
// zero time if none waits.
func (c *Client) SilentSince() time.Time {
	c.silence.mu.Lock()
	defer c.silence.mu.Unlock()
	if c.silence.requests == 0 {
		return time.Time{}
	}
	return c.silence.since
}
