package sqlite

import (
	"time"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// deferDocument keeps a document from being given out for a while. The caller holds mu.
func (c *claims) deferDocument(k report.Key, d commit.Deferral) {
	c.deferred[k] = d
	c.arm(d.End())
}

// arm sees to it that release runs at t or earlier. The caller holds mu.
func (c *claims) arm(t time.Time) {
	if c.closed || !c.wakeAt.IsZero() && !t.Before(c.wakeAt) {
		return
	}
	c.wakeAt = t
	wait := max(t.Sub(c.now()), commit.MinWait)
	if c.timer == nil {
		c.timer = time.AfterFunc(wait, c.release)
	} else {
		c.timer.Reset(wait)
	}
}

// release signals that documents are due. They stay noted until they are claimed: another
// delivery may defer them again.
func (c *claims) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wakeAt = time.Time{}
	now := c.now()
	for k, d := range c.deferred {
		if d.End().After(now) {
			c.arm(d.End())
			continue
		}
		c.idle.Invalidate(k.Kind)
		c.changed.Notify()
	}
}
