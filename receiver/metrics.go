package receiver

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/report"
)

// noKind and otherMethod are the label values of requests that are no call of the
// interface, so that unauthenticated senders cannot add series.
const (
	noKind      = "none"
	otherMethod = "other"
)

type metrics struct {
	deliveries *prometheus.CounterVec
	refused    *prometheus.CounterVec
	notDurable *prometheus.CounterVec
	mismatches *prometheus.CounterVec
	unknown    *prometheus.CounterVec
}

// newMetrics registers the metrics with every label value that can occur, at 0: a series
// that appears with its first event hides that event from rate().
func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riskdex_deliveries_total",
			Help: "Requests that the receiver answered.",
		}, []string{"kind", "method", "code"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riskdex_changes_refused_total",
			Help: "Deliveries, and records within deliveries, that the receiver refused.",
		}, []string{"kind", "reason"}),
	}
	m.notDurable = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "riskdex_deliveries_not_durable_total",
		Help: "Deliveries answered with 503.",
	}, []string{"kind", "cause"})
	m.mismatches = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "riskdex_id_mismatches_total",
		Help: "PUTs whose record states another id than that of its document.",
	}, []string{"kind"})
	m.unknown = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "riskdex_deletes_unknown_total",
		Help: "Deletes of documents that are not there.",
	}, []string{"kind"})
	reg.MustRegister(m.deliveries, m.refused, m.notDurable, m.mismatches, m.unknown)
	for _, kind := range append(report.Kinds(), "") {
		for method, codes := range answers(kind) {
			for _, code := range codes {
				m.deliveries.WithLabelValues(kindLabel(kind), method, strconv.Itoa(code))
			}
		}
	}
	for _, kind := range report.Kinds() {
		m.mismatches.WithLabelValues(string(kind))
		m.unknown.WithLabelValues(string(kind))
		for _, reason := range reasons() {
			m.refused.WithLabelValues(string(kind), reason)
		}
		for _, cause := range notDurableCauses() {
			m.notDurable.WithLabelValues(string(kind), cause)
		}
	}
	m.refused.WithLabelValues(noKind, reasonPath)
	m.refused.WithLabelValues(noKind, reasonIDReused)
	for _, cause := range causes() {
		m.refused.WithLabelValues(noKind, cause)
	}
	return m
}

// answers returns, by method, the status codes that a request whose path names kind, or
// none, can get. A new answer anywhere in this package is added here too; a test makes a
// request for each of them.
func answers(kind report.Kind) map[string][]int {
	// Whatever the call, authentication may fail, the sender may exceed its rate, or the
	// body that is to be verified may not arrive.
	guarded := []int{
		http.StatusUnauthorized, http.StatusForbidden, http.StatusServiceUnavailable,
		http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusRequestTimeout, http.StatusTooManyRequests,
	}
	if kind == "" {
		// The handler of panics does not know the kind.
		elsewhere := slices.Concat(guarded, []int{http.StatusNotFound, http.StatusConflict, http.StatusInternalServerError})
		return map[string][]int{
			http.MethodPost: elsewhere, http.MethodPut: elsewhere, http.MethodDelete: elsewhere, otherMethod: elsewhere,
		}
	}
	stray := slices.Concat(guarded, []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusConflict})
	call := slices.Concat(stray, []int{
		http.StatusOK, http.StatusAccepted, http.StatusPreconditionFailed, http.StatusUnprocessableEntity,
	})
	withBody := slices.Concat(call, []int{http.StatusUnsupportedMediaType})
	return map[string][]int{
		http.MethodPost: withBody, http.MethodPut: withBody, http.MethodDelete: call, otherMethod: stray,
	}
}

func (m *metrics) answered(kind report.Kind, method string, status int) {
	m.deliveries.WithLabelValues(kindLabel(kind), methodLabel(method), strconv.Itoa(status)).Inc()
}

func (m *metrics) refusedFor(kind report.Kind, reason string, n int) {
	m.refused.WithLabelValues(kindLabel(kind), reason).Add(float64(n))
}

func kindLabel(kind report.Kind) string {
	if kind == "" {
		return noKind
	}
	return string(kind)
}

func methodLabel(method string) string {
	switch method {
	case http.MethodPost, http.MethodPut, http.MethodDelete:
		return method
	}
	return otherMethod
}
