package indexer

import (
	"time"

	"github.com/cenkalti/backoff/v4"
)

// visibility tracks whether searches see what was written to the index of a lane. As soon as
// nothing more waits to be written to it, the index is refreshed, and then rests so long that refreshes
// take no more than their share of the time. During a backlog the index refreshes at its own
// interval: a refresh would cost more and show little.
type visibility struct {
	lacking    bool                        // something was written after the last refresh began
	refreshing bool                        // a refresh is under way
	rests      time.Time                   // the next refresh begins no earlier
	backoff    *backoff.ExponentialBackOff // rests after failed refreshes; nil without a failure
	warned     time.Time
}

// warnAgain is the shortest time between two log lines about one failure that lasts.
const warnAgain = 10 * time.Minute

// refreshes returns when the lane's index may be refreshed, if that does not depend on a task
// that has to end before.
func (l *lane) refreshes(cfg Config) (at time.Time, ok bool) {
	v := &l.visibility
	if cfg.RefreshShare == 0 || !v.lacking || v.refreshing || l.lags || l.tasks > l.newIndexOnly || l.ownedByOther() {
		return time.Time{}, false
	}
	return v.rests, true
}

// beginRefresh notes that a refresh begins. It may or may not show what is written meanwhile.
func (l *lane) beginRefresh() { l.visibility.lacking, l.visibility.refreshing = false, true }

// endRefresh notes the result of a refresh, and returns whether to log a warning.
func (l *lane) endRefresh(r refreshed, now time.Time, cfg Config) (warn bool) {
	v := &l.visibility
	v.refreshing = false
	if r.failed == nil {
		v.rests, v.backoff = now.Add(rest(r.took, cfg.RefreshShare)), nil
		return false
	}
	v.lacking = true
	if v.backoff == nil {
		v.backoff = newRefreshBackoff()
	}
	v.rests = now.Add(max(v.backoff.NextBackOff(), rest(r.took, cfg.RefreshShare)))
	warn = v.warned.IsZero() || now.Sub(v.warned) >= warnAgain
	if warn {
		v.warned = now
	}
	return warn
}

// rest returns how long an index rests after a refresh, so that refreshes take no more than
// share of the time.
func rest(took time.Duration, share float64) time.Duration {
	return time.Duration(min(float64(took)/share-float64(took), float64(24*time.Hour)))
}

// newRefreshBackoff returns the rests after failed refreshes, from about a second to about a minute.
func newRefreshBackoff() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval, b.MaxElapsedTime = 2*time.Second, time.Minute, 0
	b.Reset()
	return b
}
