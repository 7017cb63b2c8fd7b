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

// authenticated rejects requests that fail authentication before their bodies are read,
// whatever the path. They are counted and logged, and not kept: unauthenticated senders must not
// fill the journal.
func (r *Receiver) authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if refusal := r.authenticator.Authenticate(req); refusal != nil {
			d := r.newDelivery(call{kind: r.kindIn(req.URL.Path), method: req.Method}, w, req)
			defer d.reader.Close()
			r.reject(d, refusal)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// verified reports whether the signature of a delivery is right, or none is needed;
// otherwise it has answered. It reads the body as it was sent, which can be read again:
// nothing is decompressed before its sender is known.
func (r *Receiver) verified(d *delivery) bool {
	if !r.authenticator.Signed() {
		return true
	}
	raw, err := d.reader.ReadRaw()
	if err != nil {
		p := r.unread(err)
		r.logRejection(d, p.Reason)
		if p.Reason == reasonBusy {
			r.metrics.notDurable.WithLabelValues(string(d.kind), causeBusy).Inc()
		} else {
			r.metrics.refusedFor("", p.Reason, 1)
		}
		d.w.Header().Set("Connection", "close")
		r.answer(d, p)
		return false
	}
	id, refusal := r.authenticator.Verify(d.req, raw)
	if refusal != nil {
		r.reject(d, refusal)
		return false
	}
	d.signedID = id
	return true
}

// reject answers a request that fails authentication and closes the connection: idle connections
// cost a sender nothing, and their number is limited.
func (r *Receiver) reject(d *delivery, refusal *auth.Refusal) {
	if mayCarryDelivery(d.req.Method) {
		r.logRejection(d, string(refusal.Cause), "detail", refusal.Detail)
		r.metrics.refusedFor("", string(refusal.Cause), 1)
	}
	for _, challenge := range refusal.Challenges {
		d.w.Header().Add("WWW-Authenticate", challenge)
	}
	d.w.Header().Set("Connection", "close")
	r.answer(d, newProblem(refusal.Status, refusal.Reason, refusal.Detail))
}

// logRejection logs, at a bounded rate, that a request is rejected.
func (r *Receiver) logRejection(d *delivery, cause string, attrs ...any) {
	attrs = append([]any{"reason", cause, "path", shortened(d.req.URL.Path), "from", d.req.RemoteAddr}, attrs...)
	r.logLimited(&r.rejections, d, slog.LevelWarn, "request rejected", attrs...)
}

// tooFast reports whether a sender exceeds the rate limit, and then has answered.
func (r *Receiver) tooFast(d *delivery) bool {
	if r.rates == nil {
		return false
	}
	wait := r.rates.Wait(r.authenticator.Who(d.req), r.now())
	if wait == 0 {
		return false
	}
	seconds := int(wait/time.Second) + 1
	d.w.Header().Set("Retry-After", strconv.Itoa(seconds))
	r.logRejection(d, reasonRate)
	r.answer(d, newProblem(http.StatusTooManyRequests, reasonRate,
		fmt.Sprintf("More than %g deliveries a second came from this sender. Nothing of this one was accepted; send it again in %d s.", r.rates.PerSecond, seconds)))
	return true
}

// causes are the reasons that are counted of rejected requests.
func causes() []string {
	var list []string
	for _, c := range auth.Causes() {
		list = append(list, string(c))
	}
	return slices.Concat(list, []string{reasonTooLarge, reasonTruncated, reasonTooSlow})
}
