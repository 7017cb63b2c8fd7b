package sqlite

import (
	"time"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// deferDocument has a document wait. The caller holds mu.
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

// release tells of the documents that are due. They are remembered until they are
// claimed: another delivery may put them off again.
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
