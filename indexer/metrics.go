package indexer

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/elastic"
	"riskdex/internal/histogram"
	"riskdex/report"
)

type metrics struct {
	settleSeconds *prometheus.HistogramVec
	bulkSeconds   *prometheus.HistogramVec
	bulkDocuments *prometheus.HistogramVec
	refreshes     *prometheus.HistogramVec
	unrefreshed   *prometheus.CounterVec
	retries       *prometheus.CounterVec
	failures      *prometheus.CounterVec
	overtaken     *prometheus.CounterVec
	held          *prometheus.GaugeVec
	alias         *prometheus.GaugeVec
	leftOut       *prometheus.CounterVec
	rebuilding    *prometheus.GaugeVec
	rebuilds      *prometheus.CounterVec
	up            prometheus.GaugeFunc
	isUp          *atomic.Bool
}

// newMetrics registers the metrics with every label value that can occur, at 0: a
// series that is born with its first event hides that event from a rate.
func newMetrics(reg prometheus.Registerer, indices Indices, documents Documents, kinds []report.Kind) *metrics {
	isUp := new(atomic.Bool)
	isUp.Store(true) // not asked yet is not away
	m := &metrics{
		isUp: isUp,
		settleSeconds: prometheus.NewHistogramVec(histogram.Seconds("riskdex_settle_seconds",
			"Time from accepting a change until it was settled.",
			time.Millisecond, 24*time.Hour), []string{"kind"}),
		bulkSeconds: prometheus.NewHistogramVec(histogram.Seconds("riskdex_bulk_seconds",
			"Time for a bulk, answered or not.",
			time.Millisecond, elastic.RequestTimeout), []string{"kind"}),
		bulkDocuments: prometheus.NewHistogramVec(histogram.Counts("riskdex_bulk_documents",
			"Changes in a bulk.", 4096), []string{"kind"}),
		refreshes: prometheus.NewHistogramVec(histogram.Seconds("riskdex_refresh_seconds",
			"Time for a refresh, answered or not.",
			time.Millisecond, elastic.RequestTimeout), []string{"kind"}),
		unrefreshed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riskdex_refreshes_failed_total",
			Help: "Refreshes that failed.",
		}, []string{"kind"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riskdex_retries_total",
			Help: "Changes given back to the journal to be sent again; every attempt counts.",
		}, []string{"kind", "reason"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riskdex_failures_total",
			Help: "Failed attempts to send a change, check an index or read the journal.",
		}, []string{"kind", "reason"}),
		overtaken: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riskdex_versions_overtaken_total",
			Help: "Changes for which an index was ahead of the journal; they were sent again above its version.",
		}, []string{"kind"}),
		held: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "riskdex_held",
			Help: "1 while the index cannot be written to until somebody changes something.",
		}, []string{"index", "reason"}),
		alias: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "riskdex_alias_wrong",
			Help: "1 while the alias that apps search is not exactly the index that the journal fills.",
		}, []string{"kind"}),
		leftOut: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riskdex_fields_left_out_total",
			Help: "Fields that a document was sent without, or with a part of, since the value does not fit; every attempt counts.",
		}, []string{"kind", "field"}),
		rebuilding: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "riskdex_rebuild_active",
			Help: "1 while a new index is filled.",
		}, []string{"kind"}),
		rebuilds: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "riskdex_rebuilds_total",
			Help: "Rebuilds that ended.",
		}, []string{"kind", "outcome"}),
		up: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "riskdex_elasticsearch_up",
			Help: "0 if Elasticsearch did not answer the last request, or was unavailable.",
		}, func() float64 {
			if isUp.Load() {
				return 1
			}
			return 0
		}),
	}
	reg.MustRegister(m.settleSeconds, m.bulkSeconds, m.bulkDocuments, m.refreshes, m.unrefreshed, m.retries, m.failures, m.overtaken, m.held, m.alias, m.leftOut, m.rebuilding, m.rebuilds, m.up)
	for _, kind := range kinds {
		m.settleSeconds.WithLabelValues(string(kind))
		m.bulkSeconds.WithLabelValues(string(kind))
		m.bulkDocuments.WithLabelValues(string(kind))
		m.refreshes.WithLabelValues(string(kind))
		m.unrefreshed.WithLabelValues(string(kind))
		for _, reason := range failureReasons() {
			m.retries.WithLabelValues(string(kind), reason)
			m.failures.WithLabelValues(string(kind), reason)
		}
		m.overtaken.WithLabelValues(string(kind))
		m.showPaused(indices.Alias(kind), nil)
		m.showAlias(kind, false)
		for _, field := range documents.Unfit(kind) {
			m.leftOut.WithLabelValues(string(kind), field)
		}
		m.rebuilding.WithLabelValues(string(kind))
		for _, outcome := range []report.RebuildPhase{report.PhaseDone, report.PhaseFailed, report.PhaseStopped} {
			m.rebuilds.WithLabelValues(string(kind), string(outcome))
		}
	}
	return m
}

func (m *metrics) sent(kind report.Kind, changes int, took time.Duration, answered bool) {
	m.bulkSeconds.WithLabelValues(string(kind)).Observe(took.Seconds())
	m.bulkDocuments.WithLabelValues(string(kind)).Observe(float64(changes))
	m.answered(answered)
}

func (m *metrics) refreshed(kind report.Kind, took time.Duration, ok bool) {
	m.refreshes.WithLabelValues(string(kind)).Observe(took.Seconds())
	if !ok {
		m.unrefreshed.WithLabelValues(string(kind)).Inc()
	}
}

// answered notes whether Elasticsearch answered the last request.
func (m *metrics) answered(ok bool) { m.isUp.Store(ok) }

// settled observes each change that reached a final outcome, once: changes that are sent again
// were observed when they were first settled. Both lists name the same changes, in any order.
func (m *metrics) settled(changes []report.Change, settlements []report.Settlement, now time.Time) {
	accepted := make(map[report.Version]time.Time, len(changes))
	for _, c := range changes {
		if !c.Resent {
			accepted[c.Version] = c.AcceptedAt
		}
	}
	for _, s := range settlements {
		if at, ok := accepted[s.Version]; ok && s.Outcome != report.Retry {
			m.settleSeconds.WithLabelValues(string(s.Kind)).Observe(now.Sub(at).Seconds())
		}
	}
}

// rebuild shows that a rebuild has come to a phase.
func (m *metrics) rebuild(kind report.Kind, now report.RebuildPhase) {
	active := 0.0
	if now.Active() {
		active = 1
	}
	m.rebuilding.WithLabelValues(string(kind)).Set(active)
	switch {
	case now == report.PhaseRetiring:
		m.rebuilds.WithLabelValues(string(kind), string(report.PhaseDone)).Inc()
	case now == report.PhaseFailed, now == report.PhaseStopped:
		m.rebuilds.WithLabelValues(string(kind), string(now)).Inc()
	}
}

// showAlias shows whether the alias that apps search is wrong.
func (m *metrics) showAlias(kind report.Kind, wrong bool) {
	value := 0.0
	if wrong {
		value = 1
	}
	m.alias.WithLabelValues(string(kind)).Set(value)
}

// showPaused shows why index is paused, if it is.
func (m *metrics) showPaused(index string, trouble *judgement) {
	for _, reason := range failureReasons() {
		paused := 0.0
		if trouble != nil && trouble.holds() && trouble.reason == reason {
			paused = 1
		}
		m.held.WithLabelValues(index, reason).Set(paused)
	}
}
