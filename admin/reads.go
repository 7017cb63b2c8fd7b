package admin

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"riskdex/report"
)

// ReadMetrics counts what is read from the journal through the admin listener.
type ReadMetrics struct {
	exports  *prometheus.CounterVec
	exported *prometheus.CounterVec
	told     *prometheus.CounterVec
	tooOld   prometheus.Counter
	polls    prometheus.Gauge
	lookups  *prometheus.CounterVec
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
		lookups: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riskdex_lookups_total",
			Help: "Calls for documents, a history or a delivery, and pages of documents. 503: too many at the same time, or the journal could not be read.",
		}, []string{"call", "code"}),
	}
	reg.MustRegister(m.exports, m.exported, m.told, m.tooOld, m.polls, m.lookups)
	for _, result := range []string{exportDone, exportBroken} {
		m.exports.WithLabelValues(result)
	}
	for _, kind := range report.Kinds() {
		m.exported.WithLabelValues(string(kind))
		m.told.WithLabelValues(string(kind))
	}
	for _, path := range lookupPaths() {
		for _, code := range []int{http.StatusOK, http.StatusBadRequest, http.StatusNotFound, http.StatusInternalServerError, http.StatusServiceUnavailable} {
			m.lookups.WithLabelValues(path, strconv.Itoa(code))
		}
	}
	return m
}

// lookupPaths returns the paths that lookups has as the label call.
func lookupPaths() []string {
	return []string{"/api/document", "/api/documents", "/api/delivery", "/api/history", "/document"}
}

// lookups handles the calls for documents, one history or one delivery.
type lookups struct {
	limit   readLimit
	metrics *ReadMetrics
}

// handler returns a handler that counts the calls of path and passes them to h, as many at a time
// as the limit allows.
func (l lookups) handler(path string, h http.Handler) http.Handler {
	return promhttp.InstrumentHandlerCounter(l.metrics.lookups.MustCurryWith(prometheus.Labels{"call": path}), l.limit.bound(h))
}
