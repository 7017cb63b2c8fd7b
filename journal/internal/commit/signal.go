package commit

import (
	"context"
	"time"
)

// Signal wakes the goroutine that receives from it. If nobody is waiting, it wakes the next
// receiver, once, however often Notify was called.
type Signal chan struct{}

// NewSignal returns a Signal.
func NewSignal() Signal { return make(Signal, 1) }

// Notify wakes the receiver. It never blocks, and may be called concurrently.
func (s Signal) Notify() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// minWait is the shortest time between two rings of an alarm.
const minWait = 20 * time.Millisecond

// Alarm calls ring at the time that next returns, beside the time now, until ctx ends. The zero time is
// never. armed tells that next is another time.
func Alarm(ctx context.Context, armed Signal, next func() (at, now time.Time), ring func()) {
	for {
		var due <-chan time.Time
		if at, now := next(); !at.IsZero() {
			due = time.After(max(at.Sub(now), minWait))
		}
		select {
		case <-ctx.Done():
			return
		case <-armed:
		case <-due:
			ring()
		}
	}
}
