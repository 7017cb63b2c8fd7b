package searchapi

import (
	"context"
	"sync"
	"time"
)

// circuit keeps searches from Elasticsearch while it is away, so that nobody waits for it. It is open from
// the moment when a ping was not answered until one is. Both have the same time for it.
type circuit struct {
	looking chan struct{} // has room for the one request that looks
	mu      sync.Mutex
	away    bool
	looked  time.Time
}

// open reports whether Elasticsearch is away. While it is, one request looks again, and the others are not
// held up.
func (s *Server) open(ctx context.Context) bool {
	away, recent := s.seen()
	if !away || recent {
		return away
	}
	select {
	case s.circuit.looking <- struct{}{}:
		defer func() { <-s.circuit.looking }()
		return s.ping(ctx)
	default:
		return away
	}
}

// silent looks for Elasticsearch if it has answered nobody for a while, and reports whether it is away.
func (s *Server) silent(ctx context.Context) bool {
	if since := s.index.SilentSince(); since.IsZero() || s.Now().Sub(since) < lookAfter*9/10 {
		return false
	}
	s.circuit.looking <- struct{}{}
	defer func() { <-s.circuit.looking }()
	if away, recent := s.seen(); recent {
		return away
	}
	return s.ping(ctx)
}

// seen returns whether Elasticsearch was away when somebody last looked, and whether that was just now.
func (s *Server) seen() (away, recent bool) {
	s.circuit.mu.Lock()
	defer s.circuit.mu.Unlock()
	return s.circuit.away, s.Now().Sub(s.circuit.looked) < lookAgain
}

// ping goes on to its end if the client hangs up, so that a hang is noticed however short clients wait.
func (s *Server) ping(ctx context.Context) (away bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hangs)
	defer cancel()
	away = s.index.Ping(ctx) != nil
	s.circuit.mu.Lock()
	defer s.circuit.mu.Unlock()
	s.circuit.away, s.circuit.looked = away, s.Now()
	return away
}
