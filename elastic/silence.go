package elastic

import (
	"sync"
	"time"
)

// silence is since when requests have been under way of which none has been answered, or has failed.
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

// end notes the end of a request, which says nothing if it was given up.
func (s *silence) end(said bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests--; said {
		s.since = time.Now()
	}
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
