package main

import (
	"cmp"
	"crypto/tls"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/trace"

	"riskdex/admin"
	"riskdex/elastic"
	"riskdex/follow"
	"riskdex/indexer"
	"riskdex/indexer/probe"
	"riskdex/indexer/verify"
	"riskdex/indexer/visible"
	"riskdex/internal/histogram"
	"riskdex/internal/logsink"
	"riskdex/internal/reread"
	"riskdex/journal"
	"riskdex/mappings"
	"riskdex/mappings/indices"
	"riskdex/receiver"
	"riskdex/receiver/auth"
	"riskdex/report"
	"riskdex/search/searchapi"
)

// components are the parts of riskdex that accept deliveries and index them, with all metrics.
// Making them listens nowhere, calls no server and starts no goroutine, so that metrics can be
// listed without serving.
type components struct {
	registry      *prometheus.Registry
	global        prometheus.Collector // the metrics that are the same from every process
	journal       journal.Journal
	set           *mappings.Set
	client        *elastic.Client
	indices       *indices.Indices
	indexer       *indexer.Indexer
	searcher      *probe.Searcher // nil without a probe
	prober        *probe.Prober   // likewise
	coverage      *verify.Coverage
	fields        *verify.Fields
	authenticator *auth.Authenticator // decides whose deliveries are accepted
	receiver      *receiver.Receiver
	searches      *searchapi.Server // nil unless apps search here
	secured       *tls.Config       // of the listener for deliveries; nil if they come over plain HTTP
	last          *admin.Deliveries
	arrivals      *admin.Arrivals
	follower      *follow.Follower // nil if this riskdex takes deliveries itself
	reads         *admin.ReadMetrics
	maxBody       int64
}

// openJournal opens a journal that calls observe with the seconds that each append takes. The
// caller of newComponents closes the journal, also if newComponents fails after opening it.
type openJournal func(observe func(seconds float64)) (journal.Journal, error)

// newComponents makes the components from the settings. tracer is nil if nothing is traced.
// Every metric of riskdex is registered when it returns.
func newComponents(c *serveCommand, tracer trace.Tracer, open openJournal, log *slog.Logger, lines *logsink.Sink, files *reread.Group) (*components, error) {
	w := &components{registry: prometheus.NewRegistry(), last: new(admin.Deliveries)}
	var err error
	if w.set, err = c.mappings(); err != nil {
		return nil, err
	}
	cfg, err := c.config()
	if err != nil {
		return nil, err
	}
	w.maxBody = cfg.MaxBody
	if w.authenticator, err = c.authenticator(files, log); err != nil {
		return nil, err
	}
	cfg.Authenticator = w.authenticator
	if w.secured, err = c.securedDeliveries(files, log); err != nil {
		return nil, err
	}
	if w.client, err = c.elasticsearchSettings.client(); err != nil {
		return nil, err
	}
	w.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registerBuild(w.registry, thisBuild())
	if w.journal, err = open(appendHistogram(w.registry).Observe); err != nil {
		return nil, err
	}
	w.arrivals = admin.NewArrivals(w.journal, c.Expect.expected, log)
	if w.follower, err = c.follower(w.journal, w.observe, log); err != nil {
		return nil, err
	}
	registerFollower(w.registry, w.follower)
	w.global = admin.NewJournalCollector(w.sums(), c.Expect.expected, time.Now, log)
	w.registry.MustRegister(w.global)
	w.reads = admin.NewReadMetrics(w.registry)
	registerBackups(w.registry, c.backupEvery())
	registerClock(w.registry)
	registerCertificate(w.registry, certificateIn(w.secured))
	registerReadiness(w.registry, w.canAccept, w.journal.OldestWait)
	registerLog(w.registry, lines.State)
	w.indices = &indices.Indices{Client: w.client, Prefix: c.IndexPrefix, Set: w.set, Lineage: w.journal.Lineage(), Log: log}
	indexing := c.indexerConfig()
	indexing.Tracer, cfg.Tracer = tracer, tracer
	cfg.Observe, cfg.Ready = w.observe, w.canAccept
	cfg.Await = visible.New(w.journal, w.client, w.indices.Alias).Wait
	if w.receiver, err = receiver.New(cfg, w.journal, time.Now, w.registry, log); err != nil {
		return nil, err
	}
	if w.indexer, err = indexer.New(indexing, w.journal, w.set, w.indices, w.client, w.registry, log); err != nil {
		return nil, err
	}
	if c.SearchListen != "" {
		if w.searches, err = c.SearchAPI.server(c.elasticsearchSettings, w.set, tracer, w.registry, files, log); err != nil {
			return nil, err
		}
	}
	w.coverage = verify.NewCoverage(verify.CoverageEvery, w.journal, w.index().Documents, w.index().refresh, w.indices.OwnedByOther, w.registry, log)
	w.fields = verify.NewFields(verify.FieldsEvery, w.indices.Fields, w.set.Fields, w.indices.OwnedByOther, w.registry, log)
	if c.ProbeEvery != 0 {
		w.searcher = newSearcher(w.indices, c.ProbeEvery, w.registry, log)
		if w.prober, err = probe.New(c.probeConfig(), w.journal, w.indices, w.client, w.registry, log); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// index returns the index that apps search.
func (w *components) index() index { return index{w.client, w.indices, w.set} }

// observe takes note of a delivery that was answered.
func (w *components) observe(a report.Answered) {
	w.last.Note(a)
	w.arrivals.Note(a)
}

// sums returns the journal as those see it who ask what waits.
func (w *components) sums() laggingJournal { return laggingJournal{w.journal, w.follower} }

// canAccept returns what keeps deliveries from being accepted, for /readyz and the metrics, or
// nil.
func (w *components) canAccept() error { return cmp.Or(w.journal.Ready(), w.authenticator.Ready()) }

// registerReadiness registers metrics whose values need neither the disk nor the server of the
// journal, because those may hang.
func registerReadiness(reg prometheus.Registerer, canAccept func() error, oldestWait func() time.Duration) {
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "riskdex_accepting",
		Help: "1 while deliveries can be accepted, as /readyz says.",
	}, func() float64 {
		if canAccept() != nil {
			return 0
		}
		return 1
	}), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "riskdex_journal_oldest_wait_seconds",
		Help: "How long the oldest request has waited for the journal; from 5 on, riskdex is not ready.",
	}, func() float64 { return oldestWait().Seconds() }))
}

func registerLog(reg prometheus.Registerer, state func() logsink.State) {
	reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "riskdex_log_lines_dropped_total",
		Help: "Lines of the log that were dropped, because nothing took them in time.",
	}, func() float64 { return float64(state().Dropped) }), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "riskdex_log_unread_seconds",
		Help: "How long the log has not taken lines as they come; 0 while it does.",
	}, func() float64 {
		if since := state().Since; !since.IsZero() {
			return time.Since(since).Seconds()
		}
		return 0
	}))
}

func registerBackups(reg prometheus.Registerer, every time.Duration) {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "riskdex_journal_backup_every_seconds",
		Help: "--backup-every; 0 if not set.",
	})
	g.Set(every.Seconds())
	reg.MustRegister(g)
}

// registerClock exposes the time, so that Prometheus can compare it with its own: nothing else
// here knows another clock.
func registerClock(reg prometheus.Registerer) {
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "riskdex_clock_timestamp_seconds",
		Help: "The machine's clock, in seconds since 1970.",
	}, func() float64 { return float64(time.Now().UnixMicro()) / 1e6 }))
}

func registerCertificate(reg prometheus.Registerer, certificate func() admin.Certificate) {
	register := func(name, help string, of func(admin.Certificate) time.Time) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help + " before the certificate for deliveries expires, in seconds since 1970; 0 if there is none."}, func() float64 {
			if certificate == nil {
				return 0
			}
			return float64(of(certificate()).Unix())
		}))
	}
	register("riskdex_certificate_replace_by_timestamp_seconds", "A week, or a tenth of its life,", func(c admin.Certificate) time.Time { return c.ReplaceBy })
	register("riskdex_certificate_urgent_timestamp_seconds", "A day, or a seventieth of its life,", func(c admin.Certificate) time.Time { return c.Urgent })
}

func appendHistogram(reg prometheus.Registerer) prometheus.Histogram {
	h := prometheus.NewHistogram(histogram.Seconds("riskdex_journal_append_seconds",
		"Time to make a delivery durable.", 500*time.Microsecond, 30*time.Second))
	reg.MustRegister(h)
	return h
}
