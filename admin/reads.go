package admin

import (
	"github.com/prometheus/client_golang/prometheus"

	"riskdex/report"
)

// ReadMetrics counts what is read from the journal through the admin listener.
type ReadMetrics struct {
	exports  *prometheus.CounterVec
	exported *prometheus.CounterVec
}

// The results of an export.
const (
	exportDone   = "done"
	exportBroken = "broken"
)

// NewReadMetrics registers them.
func NewReadMetrics(reg prometheus.Registerer) *ReadMetrics {
	m := &ReadMetrics{
		exports: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riskdex_exports_total",
			Help: "Exports of records. Broken: the client left, or the journal could not be read.",
		}, []string{"result"}),
		exported: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riskdex_exported_records_total",
			Help: "Records written by exports.",
		}, []string{"kind"}),
	}
	reg.MustRegister(m.exports, m.exported)
	for _, result := range []string{exportDone, exportBroken} {
		m.exports.WithLabelValues(result)
	}
	for _, kind := range report.Kinds() {
		m.exported.WithLabelValues(string(kind))
	}
	return m
}
