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

	mu    sync.Mutex
	waits map[report.Key]*backoff.ExponentialBackOff
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
}
