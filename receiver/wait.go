package receiver

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/report"
)

// Await waits until searches show all of stamps, or something newer, and returns how many they
// show. It returns earlier when the others need somebody to act, or when ctx ends.
type Await func(ctx context.Context, kind report.Kind, stamps []report.Stamp) int

// Bounds of waiting. A delivery beyond them is answered as soon as it is durable.
const (
	longestWait = 60 * time.Second
	mostWaits   = 100    // at the same time
	mostAwaited = 10_000 // documents of one delivery
)

// How a wait ended: the label `result` of the metric.
const (
	waitSearchable = "searchable"
	waitNot        = "not_searchable"
	waitEnded      = "ended" // by a sender that has hung up, or by a stop
	waitDeclined   = "declined"
)

// waits answers senders that prefer to wait until a search shows what they delivered.
type waits struct {
	await   Await         // nil: no delivery waits
	slots   chan struct{} // one value for each wait under way
	stopped context.Context
	stop    context.CancelFunc
	results *prometheus.CounterVec
}

func newWaits(await Await, reg prometheus.Registerer) *waits {
	w := &waits{await: await, slots: make(chan struct{}, mostWaits), results: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "riskdex_delivery_waits_total",
		Help: "Deliveries whose sender asked to wait for the search. Ended: by the sender or a stop. Declined: too many wait, or it is too large.",
	}, []string{"result"})}
	w.stopped, w.stop = context.WithCancel(context.Background())
	reg.MustRegister(w.results)
	for _, result := range []string{waitSearchable, waitNot, waitEnded, waitDeclined} {
		w.results.WithLabelValues(result)
	}
	return w
}

// EndWaits ends all waits for the search: from now on, deliveries are answered as soon as they
// are durable. A server calls it when it begins to shut down. It may be called concurrently, and
// more than once.
func (r *Receiver) EndWaits() { r.waits.stop() }

// wait waits for the search if the sender of d prefers that (RFC 7240), and returns how many of
// the changes searches show, and whether it waited. Before the call, the delivery is made durable
// and the memory of its body is freed.
func (w *waits) wait(d *delivery, stamps []report.Stamp) (shown int, waited bool) {
	limit := preferredWait(d.req.Header)
	if w.await == nil || limit == 0 {
		return 0, false
	}
	var expected []report.Stamp
	for _, s := range stamps {
		if s.Version > 0 || s.Effect == report.Unknown { // a document that is gone may still be found
			expected = append(expected, s)
		}
	}
	if len(expected) > mostAwaited {
		w.results.WithLabelValues(waitDeclined).Inc()
		return 0, false
	}
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	default:
		w.results.WithLabelValues(waitDeclined).Inc()
		return 0, false
	}
	ctx, cancel := context.WithTimeout(d.req.Context(), limit)
	defer cancel()
	defer context.AfterFunc(w.stopped, cancel)()
	if len(expected) > 0 {
		shown = w.await(ctx, d.kind, expected)
	}
	result := waitNot
	switch {
	case shown == len(expected):
		result = waitSearchable
	case w.stopped.Err() != nil || d.req.Context().Err() != nil:
		result = waitEnded
	}
	w.results.WithLabelValues(result).Inc()
	d.w.Header().Set("Preference-Applied", fmt.Sprintf("wait=%d", int(limit.Seconds())))
	return shown, true
}

// preferredWait returns how long the sender is ready to wait, at most longestWait; 0 if it does
// not say so. Other preferences, and values that cannot be read, are ignored, as RFC 7240 demands.
func preferredWait(h http.Header) time.Duration {
	for preference := range strings.SplitSeq(strings.Join(h.Values("Prefer"), ","), ",") {
		token, _, _ := strings.Cut(preference, ";") // its parameters
		name, value, _ := strings.Cut(token, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "wait") {
			continue
		}
		seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31)
		if err != nil {
			return 0 // the first one counts
		}
		return min(time.Duration(seconds)*time.Second, longestWait)
	}
	return 0
}
