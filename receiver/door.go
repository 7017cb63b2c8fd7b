package receiver

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"riskdex/receiver/auth"
)

// greeted lets those on whose requests the door lets in before their bodies are
// read, whatever the path. What it turns away is counted and logged, and not kept:
// strangers must not fill the journal.
func (r *Receiver) greeted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if refusal := r.door.Greet(req); refusal != nil {
			d := r.newDelivery(call{kind: r.kindIn(req.URL.Path), method: req.Method}, w, req)
			defer d.reader.Close()
			r.turnAway(d, refusal)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// verified tells whether a delivery may go on; otherwise it has its answer. Where
// deliveries are signed, it reads the body as it was sent and leaves it to be read
// once more: nothing is decompressed before it is known whose it is.
func (r *Receiver) verified(d *delivery) bool {
	if !r.door.Signed() {
		return true
	}
	raw, err := d.reader.ReadRaw()
	if err != nil {
		p := r.unread(err)
		r.warn(d, p.Reason)
		if p.Reason == reasonBusy {
			r.metrics.lost.WithLabelValues(string(d.kind), causeBusy).Inc()
		} else {
			r.metrics.refusedFor("", p.Reason, 1)
		}
		d.w.Header().Set("Connection", "close")
		r.answer(d, p)
		return false
	}
	id, refusal := r.door.Verify(d.req, raw)
	if refusal != nil {
		r.turnAway(d, refusal)
		return false
	}
	d.signedID = id
	return true
}

// turnAway answers who is not let in, and ends the connection: one that may wait for
// the next request costs its sender nothing, and there are only so many of them.
func (r *Receiver) turnAway(d *delivery, refusal *auth.Refusal) {
	r.warn(d, string(refusal.Cause))
	r.metrics.refusedFor("", string(refusal.Cause), 1)
	for _, challenge := range refusal.Challenges {
		d.w.Header().Add("WWW-Authenticate", challenge)
	}
	d.w.Header().Set("Connection", "close")
	r.answer(d, newProblem(refusal.Status, refusal.Reason, refusal.Detail))
}

// warn logs that one is turned away.
func (r *Receiver) warn(d *delivery, cause string) {
	r.limited.log(r, d, slog.LevelWarn, "turned away at the door", "reason", cause, "from", d.req.RemoteAddr)
}

// tooMany answers a delivery of a sender who makes more than its share, and tells
// whether it has.
func (r *Receiver) tooMany(d *delivery) bool {
	if r.rates == nil {
		return false
	}
	wait := r.rates.take(r.door.Who(d.req), r.now())
	if wait == 0 {
		return false
	}
	seconds := int(wait/time.Second) + 1
	d.w.Header().Set("Retry-After", strconv.Itoa(seconds))
	r.warn(d, reasonRate)
	r.answer(d, newProblem(http.StatusTooManyRequests, reasonRate,
		fmt.Sprintf("More than %g deliveries a second came from this sender. Nothing of this one was accepted; send it again in %d s.", r.rates.perSecond, seconds)))
	return true
}

// causes are the reasons that are counted of what the door turns away.
func causes() []string {
	var list []string
	for _, c := range auth.Causes() {
		list = append(list, string(c))
	}
	return slices.Concat(list, []string{reasonTooLarge, reasonTruncated, reasonTooSlow})
}
