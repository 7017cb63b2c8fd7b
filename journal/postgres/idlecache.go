package postgres

import (
	"context"
	"sync"
	"time"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// idleCache remembers which kinds have nothing to claim, as far as this process knows, and when
// time alone may change that. It saves queries to the server.
type idleCache struct {
	now     func() time.Time
	changed commit.Signal

	armed commit.Signal // told with due

	mu    sync.Mutex
	kinds commit.IdleCache
	due   map[report.Kind]time.Time // when something of a kind may become claimable
}

func newIdleCache(now func() time.Time) *idleCache {
	return &idleCache{
		now: now, changed: commit.NewSignal(), armed: commit.NewSignal(), kinds: commit.NewIdleCache(), due: map[report.Kind]time.Time{},
	}
}

func (l *idleCache) isIdle(k report.Kind) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kinds.IsIdle(k)
}

// beginLookup notes that a Claim queries a kind, and endLookup the result: nothing tells that
// there was nothing to claim, and that the passing of time does not change that.
func (l *idleCache) beginLookup(k report.Kind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kinds.BeginLookup(k)
}

func (l *idleCache) endLookup(nothing bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kinds.EndLookup(nothing)
}

// invalidate notes that something of kinds may have become claimable.
func (l *idleCache) invalidate(kinds ...report.Kind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range kinds {
		l.kinds.Invalidate(k)
	}
}

// invalidateAll notes that something of any kind may have become claimable.
func (l *idleCache) invalidateAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kinds.InvalidateAll()
	l.changed.Notify()
}

// arm makes Claim query a kind again at t or earlier.
func (l *idleCache) arm(k report.Kind, t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if due, ok := l.due[k]; !ok || t.Before(due) {
		l.due[k] = t
		l.armed.Notify()
	}
}

// run has Claim query the kinds that are due, until ctx ends.
func (l *idleCache) run(ctx context.Context) {
	commit.Alarm(ctx, l.armed, func() (next, now time.Time) {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, t := range l.due {
			if next.IsZero() || t.Before(next) {
				next = t
			}
		}
		return next, l.now()
	}, l.release)
}

func (l *idleCache) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, t := range l.due {
		if t.After(l.now()) {
			continue
		}
		delete(l.due, k)
		l.kinds.Invalidate(k)
		l.changed.Notify()
	}
}
