package indexer

import (
	"time"

	"github.com/cenkalti/backoff/v4"
)

// visibility is what a lane knows of whether searches see what was written to its
// index. As soon as nothing more waits to be written, the index is refreshed, and then
// left alone for so long that refreshes take no more than a share of the time. While
// more waits, it is left to the index's own interval: a refresh in the midst of a
// backlog costs the more and shows little.
type visibility struct {
	lacking    bool                        // something was written since the last refresh began
	refreshing bool                        // one is under way
	rests      time.Time                   // the next may not begin before
	failing    *backoff.ExponentialBackOff // after failures, how long to rest; nil after none
	warned     time.Time
}

// warnAgain is how long a failing refresh is not warned of again.
const warnAgain = 10 * time.Minute

// refreshes returns when the lane's index may be refreshed without waiting for a task
// to end, and whether there is such a time.
func (l *lane) refreshes(cfg Config) (at time.Time, ok bool) {
	v := &l.visibility
	if cfg.RefreshShare == 0 || !v.lacking || v.refreshing || l.pending || l.tasks > 0 || l.foreign() {
		return time.Time{}, false
	}
	return v.rests, true
}

// beginRefresh notes that a refresh begins. What is written while it is under way, it
// may show or not.
func (l *lane) beginRefresh() { l.visibility.lacking, l.visibility.refreshing = false, true }

// endRefresh notes what came of a refresh, and reports whether to warn of it.
func (l *lane) endRefresh(r refreshed, now time.Time, cfg Config) (warn bool) {
	v := &l.visibility
	v.refreshing = false
	if r.failed == nil {
		v.rests, v.failing = now.Add(rest(r.took, cfg.RefreshShare)), nil
		return false
	}
	v.lacking = true
	if v.failing == nil {
		v.failing = newFailing()
	}
	v.rests = now.Add(max(v.failing.NextBackOff(), rest(r.took, cfg.RefreshShare)))
	warn = v.warned.IsZero() || now.Sub(v.warned) >= warnAgain
	if warn {
		v.warned = now
	}
	return warn
}

// rest is how long to leave an index alone after a refresh that took so long, for
// refreshes to take that share of the time.
func rest(took time.Duration, share float64) time.Duration {
	return time.Duration(min(float64(took)/share-float64(took), float64(24*time.Hour)))
}

// newFailing returns the rests after refreshes that fail, from about a second to
// about a minute. Nothing waits for them.
func newFailing() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval, b.MaxElapsedTime = 2*time.Second, time.Minute, 0
	b.Reset()
	return b
}
