package receiver

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/report"
)

// noKind and otherMethod are the label values for what no call of the interface
// has, so that a stranger cannot make new series.
const (
	noKind      = "none"
	otherMethod = "other"
)

type metrics struct {
	deliveries *prometheus.CounterVec
	refused    *prometheus.CounterVec
}

// newMetrics registers the metrics with every label value that can occur, at 0: a
// series that is born with its first event hides that event from a rate.
func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riskdex_deliveries_total",
			Help: "Requests answered by the receiver, by kind of content, method and status code.",
		}, []string{"kind", "method", "code"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riskdex_changes_refused_total",
			Help: "Deliveries, and records within deliveries, that were refused at the door, by reason.",
		}, []string{"kind", "reason"}),
	}
	reg.MustRegister(m.deliveries, m.refused)
	for _, kind := range append(report.Kinds(), "") {
		for method, codes := range answers(kind) {
			for _, code := range codes {
				m.deliveries.WithLabelValues(kindLabel(kind), method, strconv.Itoa(code))
			}
		}
	}
	for _, kind := range report.Kinds() {
		for _, reason := range reasons() {
			m.refused.WithLabelValues(string(kind), reason)
		}
	}
	m.refused.WithLabelValues(noKind, reasonPath)
	for _, cause := range causes() {
		m.refused.WithLabelValues(noKind, cause)
	}
	return m
}

// answers returns the status codes with which a request of each method can be
// answered whose path names kind, or none. One more answer anywhere in this package
// belongs here too; a test makes a request for each of them.
func answers(kind report.Kind) map[string][]int {
	// Whatever is asked for, the door may turn it away, the sender may have sent too
	// many, or the body may not be there to be verified.
	guarded := []int{
		http.StatusUnauthorized, http.StatusForbidden, http.StatusServiceUnavailable,
		http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusRequestTimeout, http.StatusTooManyRequests,
	}
	if kind == "" {
		// A fault in riskdex is answered where the kind is not known any more.
		elsewhere := slices.Concat(guarded, []int{http.StatusNotFound, http.StatusInternalServerError})
		return map[string][]int{
			http.MethodPost: elsewhere, http.MethodPut: elsewhere, http.MethodDelete: elsewhere, otherMethod: elsewhere,
		}
	}
	stray := slices.Concat(guarded, []int{http.StatusNotFound, http.StatusMethodNotAllowed})
	call := slices.Concat(stray, []int{http.StatusAccepted, http.StatusUnprocessableEntity, http.StatusConflict})
	withBody := slices.Concat(call, []int{http.StatusUnsupportedMediaType})
	return map[string][]int{
		http.MethodPost: withBody, http.MethodPut: withBody, http.MethodDelete: call, otherMethod: stray,
	}
}

func (m *metrics) answered(kind report.Kind, method string, status int) {
	m.deliveries.WithLabelValues(kindLabel(kind), methodLabel(method), strconv.Itoa(status)).Inc()
}

func (m *metrics) refusedFor(kind report.Kind, reason string) {
	m.refused.WithLabelValues(kindLabel(kind), reason).Inc()
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
