package journal

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// A delivery whose sender has given up on it may have been given to another process
// since, and newer ones after it: taken now, it would be newer than they are. So who has
// left is not served any more, as far as that is known. Where this process was stopped
// for a while, it is not known: what waited in its sockets looks like new, until they
// have been read.

// errGone is why a delivery is not taken.
var errGone = errors.New("its sender has given up on it, and may have delivered it to another process")

// errLate is why a transaction is begun again, or a delivery not taken.
var errLate = errors.New("this process was stopped for a while, and what it has may be old; deliver again, in a moment or to another process")

// pulse notices that this process was stopped.
type pulse struct {
	last, until atomic.Int64 // since start, as durations: the last beat; when what waited has been read
	start       time.Time
}

const (
	pulseEvery = 250 * time.Millisecond
	stoppedFor = 3 * time.Second // that there was no pulse is taken for a stop
	readWithin = time.Second     // what waits in the sockets
)

func newPulse() *pulse { return &pulse{start: time.Now()} }

func (p *pulse) run(ctx context.Context) {
	ticker := time.NewTicker(pulseEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.beat(time.Since(p.start))
		}
	}
}

func (p *pulse) beat(now time.Duration) {
	if now-time.Duration(p.last.Load()) > stoppedFor {
		p.until.Store(int64(now + readWithin))
	}
	p.last.Store(int64(now))
}

// stopped tells whether this process was stopped, and may still have what waited then.
func (p *pulse) stopped(now time.Duration) bool {
	return now-time.Duration(p.last.Load()) > stoppedFor || now < time.Duration(p.until.Load())
}

// isLate tells whether a request must not be carried out any more. What is settled,
// or changed by an operator, goes by versions and is never late.
func (j *Postgres) isLate(r *request) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	select {
	case <-r.gone:
		return errGone
	default:
	}
	if r.takes > 0 && j.pulse.stopped(time.Since(j.pulse.start)) {
		return errLate
	}
	return nil
}

func (j *Postgres) anyLate(group []*request) bool {
	for _, r := range group {
		if j.isLate(r) != nil {
			return true
		}
	}
	return false
}

// inTime returns those of a group that are to be carried out, and answers the others.
func (j *Postgres) inTime(group []*request) (rest []*request) {
	for _, r := range group {
		if err := j.isLate(r); err != nil {
			r.done <- err
		} else {
			rest = append(rest, r)
		}
	}
	return rest
}
