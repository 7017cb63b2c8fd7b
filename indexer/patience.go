package indexer

import (
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"

	"riskdex/report"
)

// patience remembers how long single documents that fail while others get
// through have to wait, each longer from time to time.
type patience struct {
	newBackOff func() *backoff.ExponentialBackOff
	longest    time.Duration

	mu       sync.Mutex
	waits    map[report.Key]*backoff.ExponentialBackOff
	suspects map[report.Key]struct{} // those that spoilt a bulk of their own
}

// maxPatience bounds the memory for it. Documents beyond wait the longest time
// at once.
const maxPatience = 10_000

func (p *patience) next(key report.Key) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait, known := p.waits[key]
	if !known {
		if len(p.waits) >= maxPatience {
			return p.longest
		}
		wait = p.newBackOff()
		p.waits[key] = wait
	}
	return wait.NextBackOff()
}

func (p *patience) forget(key report.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waits, key)
	delete(p.suspects, key)
}

// suspect notes that a document alone in a bulk was not taken, for a reason that
// may be its own or not. Until it is settled it goes in bulks of its own, so that
// it spoils nobody else's.
func (p *patience) suspect(key report.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.suspects) < maxPatience {
		p.suspects[key] = struct{}{}
	}
}

func (p *patience) isSuspect(key report.Key) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.suspects[key]
	return ok
}
