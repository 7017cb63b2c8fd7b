package postgres

import (
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

	mu     sync.Mutex
	kinds  commit.IdleCache
	timers map[report.Kind]*time.Timer
	due    map[report.Kind]time.Time // when its timer fires
	closed bool
}

func newIdleCache(now func() time.Time) *idleCache {
	return &idleCache{
		now: now, changed: commit.NewSignal(), kinds: commit.NewIdleCache(),
		timers: map[report.Kind]*time.Timer{}, due: map[report.Kind]time.Time{},
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
	if due, ok := l.due[k]; l.closed || ok && !t.Before(due) {
		return
	}
	l.due[k] = t
	if old := l.timers[k]; old != nil {
		old.Stop()
	}
	l.timers[k] = time.AfterFunc(max(t.Sub(l.now()), commit.MinWait), func() { l.release(k) })
}

func (l *idleCache) release(k report.Kind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.due, k)
	l.kinds.Invalidate(k)
	l.changed.Notify()
}

func (l *idleCache) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, t := range l.timers {
		t.Stop()
	}
}
