package searchapi

import (
	"context"
	"sync"
	"time"
)

// circuit keeps searches from Elasticsearch while it is away, so that nobody waits for it. It is open from
// the moment when it did not answer a ping until it answers one.
type circuit struct {
	mu     sync.Mutex
	away   bool
	looked time.Time

	looking sync.Mutex // held by the one who looks
}

// open reports whether Elasticsearch is away. While it is, one request a second looks again.
func (c *circuit) open(ctx context.Context, ping func(context.Context) error, now func() time.Time) bool {
	c.mu.Lock()
	look := c.away && now().Sub(c.looked) >= lookAgain
	if look {
		c.looked = now()
	}
	away := c.away
	c.mu.Unlock()
	if !look {
		return away
	}
	ctx, cancel := context.WithTimeout(ctx, lookAfter)
	defer cancel()
	return c.set(ping(ctx) != nil, now)
}

// look pings Elasticsearch if it has answered nobody for a while, and reports whether it is away.
func (c *circuit) look(ctx context.Context, index Index, now func() time.Time) bool {
	c.looking.Lock()
	defer c.looking.Unlock()
	c.mu.Lock()
	away := c.away
	c.mu.Unlock()
	if since := index.SilentSince(); away || since.IsZero() || now().Sub(since) < lookAfter*9/10 {
		return away
	}
	pinging, cancel := context.WithTimeout(ctx, hangs)
	defer cancel()
	err := index.Ping(pinging)
	if ctx.Err() != nil {
		return false
	}
	return c.set(err != nil, now)
}

func (c *circuit) set(away bool, now func() time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away, c.looked = away, now()
	return away
}
