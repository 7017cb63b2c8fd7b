package admin

import (
	"github.com/prometheus/client_golang/prometheus"

	"riskdex/report"
)

// ReadMetrics counts what is read from the journal through the admin listener.
type ReadMetrics struct {
	exports  *prometheus.CounterVec
	exported *prometheus.CounterVec
	told     *prometheus.CounterVec
	tooOld   prometheus.Counter
	polls    prometheus.Gauge
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
		told: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riskdex_feed_changes_total",
			Help: "Changes that the feed of changes told, to all clients.",
		}, []string{"kind"}),
		tooOld: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "riskdex_feed_gone_total",
			Help: "Calls for changes after a cursor from which nobody can go on: the client has to begin anew.",
		}),
		polls: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "riskdex_feed_waiting",
			Help: "Calls that wait for changes.",
		}),
	}
	reg.MustRegister(m.exports, m.exported, m.told, m.tooOld, m.polls)
	for _, result := range []string{exportDone, exportBroken} {
		m.exports.WithLabelValues(result)
	}
	for _, kind := range report.Kinds() {
		m.exported.WithLabelValues(string(kind))
		m.told.WithLabelValues(string(kind))
	}
	return m
}
