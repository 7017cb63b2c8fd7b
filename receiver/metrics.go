package receiver

import (
	"net/http"
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

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riskdex_deliveries_total",
			Help: "Requests answered by the receiver, by kind of content, method and status code.",
		}, []string{"kind", "method", "code"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riskdex_changes_refused_total",
			Help: "Deliveries, and records within deliveries, that were not accepted, by reason.",
		}, []string{"kind", "reason"}),
	}
	reg.MustRegister(m.deliveries, m.refused)
	for _, kind := range report.Kinds() {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
			m.deliveries.WithLabelValues(string(kind), method, strconv.Itoa(http.StatusAccepted))
			m.deliveries.WithLabelValues(string(kind), method, strconv.Itoa(http.StatusServiceUnavailable))
		}
		for _, reason := range reasons() {
			m.refused.WithLabelValues(string(kind), reason)
		}
	}
	m.refused.WithLabelValues(noKind, reasonPath)
	m.refused.WithLabelValues(noKind, reasonMethod)
	for _, cause := range causes() {
		m.refused.WithLabelValues(noKind, cause)
	}
	return m
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
