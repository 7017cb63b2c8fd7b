package indexer

import (
	"time"

	"riskdex/report"
)

// crowd is what a lane knows of changes that fail one by one and fill its bulks.
// Those that wait longest are claimed first, so they would be claimed again and again
// before all others, which may well be taken. They let the others by.
type crowd struct {
	since time.Time // zero while nothing is in the way
	last  time.Time // when a bulk was last full of them
}

func (c *crowd) note(t turn, out outcome, now time.Time) {
	switch {
	case out.crowded && c.since.IsZero():
		*c = crowd{t.started, now}
	case out.crowded:
		c.last = now
	case out.sent:
		*c = crowd{}
	}
}

// waits tells whether some of them may not have been tried again yet: that nothing
// else is there to be sent does not show that they would be taken now.
func (c *crowd) waits(now time.Time, cfg Config) bool {
	return !c.since.IsZero() && now.Sub(c.last) < 2*longestLetBy*cfg.LongestBackoff
}

// letBy returns until when one of a crowd waits. There may be more than fit in
// several bulks, so they wait the longer the longer nothing else was found, but no
// longer than they may be late when their trouble has passed.
func (x *Indexer) letBy(t turn, key report.Key) time.Time {
	now := time.Now()
	wait := x.patience.next(key)
	if !t.crowded.IsZero() {
		wait = max(wait, min(now.Sub(t.crowded), longestLetBy*x.cfg.LongestBackoff))
	}
	return now.Add(wait)
}

const longestLetBy = 12 // times the longest backoff

// othersBehind tells whether more may be waiting than a turn was given: it was given
// all that it may, or so many bytes that the next may have been too large.
func (x *Indexer) othersBehind(t turn, changes []report.Change) bool {
	size := 0
	for _, c := range changes {
		size += len(c.Body)
	}
	return len(changes) >= t.max || size >= x.cfg.BulkBytes/2
}
