// Package rates bounds how many requests a second each client makes.
package rates

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxClients bounds the clients that are distinguished. There can be that many only where
// requests are accepted without credentials.
const maxClients = 10_000

// Rates limits the requests a second of each client. Those of one second may come at once.
type Rates struct {
	PerSecond float64
	mu        sync.Mutex
	clients   map[string]*rate.Limiter
}

// New returns Rates of which every client has the same.
func New(perSecond float64) *Rates {
	return &Rates{PerSecond: perSecond, clients: map[string]*rate.Limiter{}}
}

// Wait counts a request. It returns 0 if the client may make it, and otherwise how long it has to wait.
func (l *Rates) Wait(who string, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter := l.clients[who]
	if limiter == nil {
		l.forget(now)
		limiter = rate.NewLimiter(rate.Limit(l.PerSecond), max(1, int(l.PerSecond)))
		l.clients[who] = limiter
	}
	if limiter.AllowN(now, 1) {
		return 0
	}
	missing := 1 - limiter.TokensAt(now)
	return time.Duration(missing / l.PerSecond * float64(time.Second))
}

// forget drops clients whose limit has fully recovered, which are like new ones. It frees a
// tenth at once, so that not every new client causes a scan of all.
func (l *Rates) forget(now time.Time) {
	if len(l.clients) < maxClients {
		return
	}
	for who, limiter := range l.clients {
		if limiter.TokensAt(now) >= float64(limiter.Burst()) {
			delete(l.clients, who)
		}
	}
	for who := range l.clients {
		if len(l.clients) <= maxClients*9/10 {
			return
		}
		delete(l.clients, who) // that client may send a little more
	}
}
