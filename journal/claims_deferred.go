package journal

import (
	"time"

	"riskdex/report"
)

// deferral is why a document is put off, and until when.
type deferral struct {
	until time.Time
	calm  bool      // or until nothing was delivered for it for report.Debounce
	came  time.Time // when it was delivered last; counts where calm
}

// deferralBy returns what a settlement asks for.
func deferralBy(s settled) deferral {
	return deferral{until: s.NotBefore, calm: s.newer && s.Outcome != report.Retry, came: s.came}
}

// ends returns when the document may be given out.
func (d deferral) ends() time.Time {
	if calm := d.came.Add(report.Debounce); d.calm && calm.Before(d.until) {
		return calm
	}
	return d.until
}

// minWait bounds how often it is looked for what is due.
const minWait = 20 * time.Millisecond

// putOff has a document wait. The caller holds mu.
func (c *claims) putOff(k report.Key, d deferral) {
	c.deferred[k] = d
	c.arm(d.ends())
}

// arm sees to it that release runs at t or earlier. The caller holds mu.
func (c *claims) arm(t time.Time) {
	if c.closed || !c.wakeAt.IsZero() && !t.Before(c.wakeAt) {
		return
	}
	c.wakeAt = t
	wait := max(t.Sub(c.now()), minWait)
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
		if d.ends().After(now) {
			c.arm(d.ends())
			continue
		}
		c.quiet.stir(k.Kind)
		c.changed.ring()
	}
}
