package postgres

import (
	"sync"
	"time"

	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// lookout knows which kinds have nothing to be claimed as far as this process was told,
// so that nobody asks the server for it all the time, and when that may change.
type lookout struct {
	now     func() time.Time
	changed commit.Signal

	mu     sync.Mutex
	quiet  commit.IdleCache
	timers map[report.Kind]*time.Timer
	due    map[report.Kind]time.Time // when its timer fires
	closed bool
}

func newLookout(now func() time.Time) *lookout {
	return &lookout{
		now: now, changed: commit.NewSignal(), quiet: commit.NewIdleCache(),
		timers: map[report.Kind]*time.Timer{}, due: map[report.Kind]time.Time{},
	}
}

func (l *lookout) isQuiet(k report.Kind) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.quiet.IsIdle(k)
}

// look begins to look for what can be claimed of a kind, end ends it: nothing says
// that there was nothing, and that the clock alone does not change that.
func (l *lookout) look(k report.Kind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.quiet.BeginLookup(k)
}

func (l *lookout) end(nothing bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.quiet.EndLookup(nothing)
}

// stir notes that something of kinds may have become claimable.
func (l *lookout) stir(kinds ...report.Kind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range kinds {
		l.quiet.Invalidate(k)
	}
}

// stirAll notes that anything may have happened.
func (l *lookout) stirAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.quiet.InvalidateAll()
	l.changed.Notify()
}

// arm has a document of a kind looked for at t, or earlier.
func (l *lookout) arm(k report.Kind, t time.Time) {
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

func (l *lookout) release(k report.Kind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.due, k)
	l.quiet.Invalidate(k)
	l.changed.Notify()
}

func (l *lookout) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, t := range l.timers {
		t.Stop()
	}
}
