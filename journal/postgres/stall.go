package postgres

import (
	"context"
	"sync/atomic"
	"time"
)

// stallDetector notices that this process was stopped: a tick comes late, or not at all.
type stallDetector struct {
	last, until atomic.Int64 // durations since start: of the last tick; until what waited has been read
	start       time.Time
}

const (
	stallCheckEvery = 250 * time.Millisecond
	stoppedFor      = 3 * time.Second // without a tick are taken for a stop
	readWithin      = time.Second     // after a stop, what waits in the sockets has been read
)

func newStallDetector() *stallDetector { return &stallDetector{start: time.Now()} }

func (d *stallDetector) run(ctx context.Context) {
	ticker := time.NewTicker(stallCheckEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			d.tick(time.Since(d.start))
		}
	}
}

func (d *stallDetector) tick(now time.Duration) {
	if now-time.Duration(d.last.Load()) > stoppedFor {
		d.until.Store(int64(now + readWithin))
	}
	d.last.Store(int64(now))
}

// stopped reports whether this process was stopped, and may still have what waited then.
func (d *stallDetector) stopped(now time.Duration) bool {
	return now-time.Duration(d.last.Load()) > stoppedFor || now < time.Duration(d.until.Load())
}
