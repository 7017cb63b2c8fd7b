package admin

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"riskdex/report"
)

// lastDeliveries is how many deliveries are remembered.
const lastDeliveries = 20

// longestMethod is how many bytes are kept of a method, which unauthenticated senders may choose.
const longestMethod = 10

// More than unknownCalls requests within unknownCallsFor that were turned away for the same
// reason are a trouble while they go on, as in the alert: a few are of others, a publisher with a
// wrong address sends more.
const (
	unknownCalls    = 20
	unknownCallsFor = 30 * time.Minute
	unknownCallsEnd = 5 * time.Minute // after the last
)

// Deliveries remembers the last deliveries, in memory, and when requests were turned away. The
// zero value is empty. Its methods may be called concurrently.
type Deliveries struct {
	mu     sync.Mutex
	ring   [lastDeliveries]report.Answered
	seen   int
	turned map[string]*turnedAway // by reason
	failed report.Answered        // the last one that nobody but its sender has
}

// turnedAway are the last times at which requests were turned away for one reason.
type turnedAway struct {
	at [unknownCalls + 1]time.Time
	n  int
}

// Note remembers a delivery.
func (d *Deliveries) Note(one report.Answered) {
	if len(one.Method) > longestMethod {
		one.Method = strings.Clone(one.Method[:longestMethod]) // a slice would keep all of it in memory
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ring[d.seen%lastDeliveries] = one
	d.seen++
	if one.Status >= http.StatusInternalServerError && one.Kind != "" {
		d.failed = one
	}
	if !isUnknownCall(one) {
		return
	}
	if d.turned == nil {
		d.turned = map[string]*turnedAway{}
	}
	t := d.turned[one.Reason]
	if t == nil {
		t = new(turnedAway)
		d.turned[one.Reason] = t
	}
	t.at[t.n%len(t.at)] = one.At
	t.n++
}

// isUnknownCall reports whether a request was turned away because of who sent it, or because it
// is none of the nine calls, so that it is not known which kind misses something.
func isUnknownCall(one report.Answered) bool {
	switch one.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return true
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return one.Kind == "" && one.Method != http.MethodGet && one.Method != http.MethodHead // which deliver nothing: a check of a balancer, or somebody looks
	}
	return false
}

// UnknownCalls returns the reason for which too many requests were turned away before now; empty
// if there is none.
func (d *Deliveries) UnknownCalls(now time.Time) (reason string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for why, t := range d.turned {
		first, last := t.at[t.n%len(t.at)], t.at[(t.n+len(t.at)-1)%len(t.at)] // of those that are remembered
		if t.n >= len(t.at) && now.Sub(first) < unknownCallsFor && now.Sub(last) < unknownCallsEnd && (reason == "" || why < reason) {
			reason = why
		}
	}
	return reason
}

// Failed returns the last delivery that was answered with 5xx, if that was less than FailedBound before
// now.
func (d *Deliveries) Failed(now time.Time) (last report.Answered, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed, !d.failed.At.IsZero() && now.Sub(d.failed.At) < FailedBound
}

// Last returns the remembered deliveries, newest first.
func (d *Deliveries) Last() []report.Answered {
	d.mu.Lock()
	defer d.mu.Unlock()
	var last []report.Answered
	for i := d.seen - 1; i >= max(0, d.seen-lastDeliveries); i-- {
		last = append(last, d.ring[i%lastDeliveries])
	}
	return last
}
