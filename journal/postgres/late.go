package postgres

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"riskdex/journal/internal/commit"
)

// Several processes ask once more, right before the commit: the newer delivery may be
// committed by another one. Where this process was stopped together with its system, or
// is behind a load balancer, what it is told of its senders may be old: after a stop, it
// waits until what comes late has come.

// errLate is why a transaction is begun again, or a delivery not taken.
var errLate = errors.New("this process was stopped for a while, and what it has may be old; deliver again, in a moment or to another process")

// stallDetector notices that this process was stopped, by its ticks.
type stallDetector struct {
	last, until atomic.Int64 // since start, as durations: the last tick; when what waited has been read
	start       time.Time
}

const (
	stallCheckEvery = 250 * time.Millisecond
	stoppedFor      = 3 * time.Second // without a tick are taken for a stop
	readWithin      = time.Second     // what waits in the sockets
)

func newStallDetector() *stallDetector { return &stallDetector{start: time.Now()} }

func (p *stallDetector) run(ctx context.Context) {
	ticker := time.NewTicker(stallCheckEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.tick(time.Since(p.start))
		}
	}
}

func (p *stallDetector) tick(now time.Duration) {
	if now-time.Duration(p.last.Load()) > stoppedFor {
		p.until.Store(int64(now + readWithin))
	}
	p.last.Store(int64(now))
}

// stopped tells whether this process was stopped, and may still have what waited then.
func (p *stallDetector) stopped(now time.Duration) bool {
	return now-time.Duration(p.last.Load()) > stoppedFor || now < time.Duration(p.until.Load())
}

// isLate is late, and for what comes from outside: whether this process was stopped.
func (j *Journal) isLate(r *commit.Request) error {
	if err := r.Late(); err != nil {
		return err
	}
	if r.Versions > 0 && j.stalls.stopped(time.Since(j.stalls.start)) {
		return errLate
	}
	return nil
}

func (j *Journal) anyLate(group []*commit.Request) bool {
	return slices.ContainsFunc(group, func(r *commit.Request) bool { return j.isLate(r) != nil })
}
