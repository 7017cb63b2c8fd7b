package searchapi

import (
	"context"
	"sync"
	"time"
)

// circuit keeps searches from Elasticsearch while it is away, so that nobody waits for it. It is open from
// the moment when a ping was not answered until one is. Both have the same time for it.
type circuit struct {
	looking sync.Mutex // by one request at a time
	mu      sync.Mutex
	away    bool
	looked  time.Time
}

// open reports whether Elasticsearch is away. While it is, one request looks again, whether or not its client
// still waits, and the others are not held up.
func (s *Server) open(ctx context.Context) bool {
	s.circuit.mu.Lock()
	away := s.circuit.away
	recent := s.Now().Sub(s.circuit.looked) < lookAgain
	s.circuit.mu.Unlock()
	if !away || recent || !s.circuit.looking.TryLock() {
		return away
	}
	defer s.circuit.looking.Unlock()
	return s.ping(context.WithoutCancel(ctx))
}

// silent pings Elasticsearch if it has answered nobody for a while, and reports whether it is away.
func (s *Server) silent(ctx context.Context) bool {
	since := s.index.SilentSince()
	return !since.IsZero() && s.Now().Sub(since) >= lookAfter*9/10 && s.ping(ctx)
}

func (s *Server) ping(ctx context.Context) (away bool) {
	pinging, cancel := context.WithTimeout(ctx, hangs)
	defer cancel()
	away = s.index.Ping(pinging) != nil
	s.circuit.mu.Lock()
	defer s.circuit.mu.Unlock()
	if ctx.Err() == nil { // who asked is still there, and has not ended the ping
		s.circuit.away, s.circuit.looked = away, s.Now()
	}
	return s.circuit.away
}
