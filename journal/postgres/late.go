package postgres

import (
	"errors"
	"slices"
	"time"

	"riskdex/journal/internal/commit"
)

// With several processes, requests are checked again right before the commit: another
// process may have committed the newer delivery. Where this process was stopped together
// with its system, or is behind a load balancer, what it knows of its senders may be old. So
// after a stop it takes no deliveries until what was on its way has been read.

// errLate is why a transaction is begun again, or a delivery not taken.
var errLate = errors.New("this process was stopped for a while, and what it has may be old; deliver again, in a moment or to another process")

// isLate returns why a request must not be carried out: what Request.Late says, and for
// deliveries, that this process was stopped.
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
