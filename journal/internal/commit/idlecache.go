package commit

import "riskdex/report"

// IdleCache knows the kinds of which a Claim has found nothing to give out, and of which
// nothing can have become claimable since, so that the next Claim need not look. It goes
// by what was found and not by the totals, which damage may have changed. Whoever uses it
// holds the mutex beside it.
type IdleCache struct {
	kinds       map[report.Kind]bool
	kind        report.Kind // the kind that a Claim looks at, if any
	invalidated bool        // something of it may have become claimable meanwhile
}

// NewIdleCache knows of no kind that is idle.
func NewIdleCache() IdleCache { return IdleCache{kinds: map[report.Kind]bool{}} }

// IsIdle tells whether nothing of a kind can be claimed.
func (c *IdleCache) IsIdle(k report.Kind) bool { return c.kinds[k] }

// BeginLookup notes that a Claim looks at a kind.
func (c *IdleCache) BeginLookup(k report.Kind) { c.kind, c.invalidated = k, false }

// Invalidate notes that something of a kind may have become claimable.
func (c *IdleCache) Invalidate(k report.Kind) {
	delete(c.kinds, k)
	c.invalidated = c.invalidated || k == c.kind
}

// InvalidateAll notes that something of any kind may have become claimable.
func (c *IdleCache) InvalidateAll() {
	clear(c.kinds)
	c.invalidated = true
}

// EndLookup notes the result of that Claim: nothing says that it found nothing.
func (c *IdleCache) EndLookup(nothing bool) {
	if nothing && !c.invalidated {
		c.kinds[c.kind] = true
	}
	c.kind = ""
}
