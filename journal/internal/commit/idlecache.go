package commit

import "riskdex/report"

// IdleCache remembers for which kinds the last Claim found nothing and nothing can have become
// claimable since, which spares the next Claim a lookup. It relies on lookups and not on the totals,
// which may be wrong after damage. The engine guards it by a mutex.
type IdleCache struct {
	kinds       map[report.Kind]bool
	kind        report.Kind // the kind of the lookup under way, if any
	invalidated bool        // changes of it may have become claimable during the lookup
}

// NewIdleCache returns a cache in which no kind is idle.
func NewIdleCache() IdleCache { return IdleCache{kinds: map[report.Kind]bool{}} }

// IsIdle reports whether no change of a kind can be claimed.
func (c *IdleCache) IsIdle(k report.Kind) bool { return c.kinds[k] }

// BeginLookup notes that a Claim looks for changes of a kind.
func (c *IdleCache) BeginLookup(k report.Kind) { c.kind, c.invalidated = k, false }

// Invalidate notes that changes of a kind may have become claimable.
func (c *IdleCache) Invalidate(k report.Kind) {
	delete(c.kinds, k)
	c.invalidated = c.invalidated || k == c.kind
}

// InvalidateAll notes that changes of every kind may have become claimable.
func (c *IdleCache) InvalidateAll() {
	clear(c.kinds)
	c.invalidated = true
}

// EndLookup notes that the lookup has ended, and whether it found nothing.
func (c *IdleCache) EndLookup(nothing bool) {
	if nothing && !c.invalidated {
		c.kinds[c.kind] = true
	}
	c.kind = ""
}
