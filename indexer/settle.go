package indexer

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"

	"riskdex/elastic"
	"riskdex/report"
)

// settlementFor returns the settlement of a change from a bulk of inBulk changes that took that long.
// waits tells that only this change waits, not the lane.
func (x *Indexer) settlementFor(ctx context.Context, p prepared, j judgement, waits bool, inBulk int, took time.Duration) report.Settlement {
	c, ctx := p.change, p.traced.context(ctx)
	s := report.Settlement{Key: c.Key, Version: c.Version, ErrorType: j.answer.ErrorType, Reason: j.answer.Detail}
	if j.reason != "" {
		x.metrics.failures.WithLabelValues(string(c.Kind), j.reason).Inc()
	}
	switch j.verdict {
	case elastic.Settled:
		s.Outcome = report.Indexed
		if c.Op == report.Delete {
			s.Outcome = report.Deleted
		}
	case elastic.Superseded:
		s.Outcome = report.Superseded
		x.log.DebugContext(ctx, "superseded: the index has this version or a newer one", "kind", c.Kind, "id", c.ID, "version", c.Version)
	case elastic.Dead:
		s.Outcome = report.Dead
		// Elasticsearch's reason may quote the document, which does not belong in a
		// log; the journal keeps it.
		what := "dead letter: the document is refused"
		if j.reason == reasonDied {
			what = "dead letter: Elasticsearch dies of the document"
		}
		x.log.ErrorContext(ctx, what, "kind", c.Kind, "id", c.ID, "version", c.Version,
			"error_type", s.ErrorType)
	case elastic.IndexAhead:
		// It is sent again under its new version (raise).
		s.Outcome = report.Retry
		s.NotBefore = time.Now().Add(x.failing.wait(c.Key, inBulk, took))
		return s
	default:
		s.Outcome = report.Retry
		x.metrics.retries.WithLabelValues(string(c.Kind), j.reason).Inc()
		if waits || j.byItself() {
			if !j.ofItems() {
				took = 0 // it was away for as long
			}
			s.NotBefore = time.Now().Add(x.failing.wait(c.Key, inBulk, took))
		}
		return s
	}
	if j.taken() {
		s.NotBefore = time.Now().Add(x.cfg.DebounceLimit)
	}
	x.failing.forget(c.Key)
	return s
}

// settle settles changes in the journal, and retries while the process runs: a change that stays
// claimed would never be sent again. It returns whether it succeeded.
func (x *Indexer) settle(ctx context.Context, changes []report.Change, settlements []report.Settlement) bool {
	// Record the answer of Elasticsearch even if riskdex is stopping.
	ctx = context.WithoutCancel(ctx)
	pause := x.newBackOff()
	var warned time.Time
	for {
		attempt, cancel := context.WithTimeout(ctx, settleTimeout)
		err := x.journal.Settle(attempt, settlements)
		cancel()
		if err == nil {
			x.metrics.settled(changes, settlements, time.Now())
			return true
		}
		if time.Since(warned) >= warnAgain {
			warned = time.Now()
			x.log.ErrorContext(ctx, "cannot settle changes in the journal: tried again until it can", "changes", len(settlements), "error", err)
		}
		select {
		case <-x.giveUp:
			return false // they stay pending in the journal, and are sent again after the restart
		case <-time.After(pause.NextBackOff()):
		}
	}
}

// settleTimeout bounds one attempt to settle.
const settleTimeout = 30 * time.Second

// newBackOff returns exponential backoff with jitter that never ends.
func (x *Indexer) newBackOff() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval = x.cfg.FirstBackoff
	b.MaxInterval = x.cfg.LongestBackoff
	b.MaxElapsedTime = 0 // the library's default gives up after 15 minutes
	b.Reset()
	return b
}
