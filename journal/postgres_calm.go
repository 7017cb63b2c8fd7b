package journal

import (
	"sync"
	"time"

	"riskdex/report"
)

// calm knows which kinds have nothing to be claimed as far as this process was told,
// so that nobody asks the server for it all the time, and when that may change.
type calm struct {
	now     func() time.Time
	changed chan struct{}

	mu     sync.Mutex
	quiet  quiet
	timers map[report.Kind]*time.Timer
	due    map[report.Kind]time.Time // when its timer fires
	closed bool
}

func newCalm(now func() time.Time) *calm {
	return &calm{
		now: now, changed: make(chan struct{}, 1), quiet: newQuiet(),
		timers: map[report.Kind]*time.Timer{}, due: map[report.Kind]time.Time{},
	}
}

func (c *calm) signal() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

func (c *calm) isQuiet(k report.Kind) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.quiet.kinds[k]
}

// look begins to look for what can be claimed of a kind, end ends it: nothing says
// that there was nothing, and that the clock alone does not change that.
func (c *calm) look(k report.Kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.quiet.look(k)
}

func (c *calm) end(nothing bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.quiet.end(nothing)
}

// stir notes that something of kinds may have become claimable.
func (c *calm) stir(kinds ...report.Kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range kinds {
		c.quiet.stir(k)
	}
}

// stirAll notes that anything may have happened.
func (c *calm) stirAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.quiet.stirAll()
	c.signal()
}

// arm has a document of a kind looked for at t, or earlier.
func (c *calm) arm(k report.Kind, t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if due, ok := c.due[k]; c.closed || ok && !t.Before(due) {
		return
	}
	c.due[k] = t
	if old := c.timers[k]; old != nil {
		old.Stop()
	}
	c.timers[k] = time.AfterFunc(max(t.Sub(c.now()), minWait), func() { c.ring(k) })
}

func (c *calm) ring(k report.Kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.due, k)
	c.quiet.stir(k)
	c.signal()
}

func (c *calm) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, t := range c.timers {
		t.Stop()
	}
}
