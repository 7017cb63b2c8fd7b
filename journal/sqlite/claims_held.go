package sqlite

import (
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

func (c *claims) add(k report.Key, held commit.Claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.claimed[k] = held
	delete(c.deferred, k)
}

// of returns the claims that settlements end, the zero claim for those that end none,
// and the keys of those.
func (c *claims) of(list []report.Settlement) (held []commit.Claim, others []report.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	held = make([]commit.Claim, len(list))
	for i, s := range list {
		if h := c.claimed[s.Key]; h.Version == s.Version && h.Doc != 0 && s.Outcome != report.Retry && s.Outcome != report.Dead {
			held[i] = h
		} else {
			others = append(others, s.Key)
		}
	}
	return held, others
}
