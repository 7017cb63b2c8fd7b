package journal

import "riskdex/report"

// claim is what was given out of a document: where it stands in the journal, which
// spares looking for it when it is settled, and its state then.
type claim struct {
	version report.Version
	doc     int64 // 0 when that is not known
	state   int64
}

func (c *claims) hold(k report.Key, held claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held[k] = held
	delete(c.deferred, k)
}

// of returns the claims that settlements end, the zero claim for those that end none,
// and the keys of those.
func (c *claims) of(list []report.Settlement) (held []claim, others []report.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	held = make([]claim, len(list))
	for i, s := range list {
		if h := c.held[s.Key]; h.version == s.Version && h.doc != 0 && s.Outcome != report.Retry && s.Outcome != report.Dead {
			held[i] = h
		} else {
			others = append(others, s.Key)
		}
	}
	return held, others
}
