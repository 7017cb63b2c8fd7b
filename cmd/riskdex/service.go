package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"riskdex/admin"
	"riskdex/indexer"
	"riskdex/journal"
	"riskdex/mappings"
	"riskdex/receiver"
)

// How long the parts of a stop may take. With the indexer's own bound and the
// journal's closing, the whole is well under the 30 seconds that supervisors
// usually wait.
const (
	stopDeliveries = 10 * time.Second
	stopAdmin      = time.Second
)

// service is a whole riskdex: it listens once it is made, and works while it
// runs.
type service struct {
	log        *slog.Logger
	journal    journal.Journal
	indexer    *indexer.Indexer
	history    *admin.History
	deliveries *endpoint
	admin      *endpoint
}

// newService opens the journal and both listeners. Elasticsearch need not be
// there yet.
func newService(ctx context.Context, c *serveCommand, log *slog.Logger) (_ *service, err error) {
	var undo []func() error
	defer func() {
		if err != nil {
			for i := len(undo) - 1; i >= 0; i-- {
				err = errors.Join(err, undo[i]())
			}
		}
	}()
	set, err := loadMappings(c.Mappings)
	if err != nil {
		return nil, err
	}
	receiverConfig, err := c.config()
	if err != nil {
		return nil, err
	}
	if receiverConfig.Door, err = c.door(log); err != nil {
		return nil, err
	}
	client, err := indexer.NewClient(c.ElasticsearchURL)
	if err != nil {
		return nil, err
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	j, err := journal.OpenSQLite(ctx, c.Journal, journal.Options{
		MaxBytes: int64(c.MaxBytes), MinFree: int64(c.MinFree),
		Log: log, Observe: appendHistogram(reg).Observe,
	})
	if err != nil {
		return nil, err
	}
	undo = append(undo, j.Close)
	reg.MustRegister(admin.NewJournalCollector(j, time.Now, log))

	indices := &mappings.Indices{Client: client, Prefix: c.IndexPrefix, Set: set, Log: log}
	x, err := indexer.New(c.indexerConfig(), j, set, indices, client, reg, log)
	if err != nil {
		return nil, err
	}
	last := new(admin.Deliveries)
	receiverConfig.Observe = noteIn(last)
	door, err := receiver.New(receiverConfig, j, time.Now, reg, log)
	if err != nil {
		return nil, err
	}
	s := &service{log: log, journal: j, indexer: x, history: admin.NewHistory(j, time.Now, log)}
	if s.deliveries, err = listen(ctx, "deliveries", c.Listen, door, log); err != nil {
		return nil, err
	}
	undo = append(undo, s.deliveries.close)
	if err := c.checkOpen(receiverConfig.Door, s.deliveries.listener.Addr()); err != nil {
		return nil, err
	}
	verifier, err := indexer.NewVerifier(indexer.DefaultVerifyConfig(), j, indices, client)
	if err != nil {
		return nil, err
	}
	administration := admin.New(admin.Parts{
		Health:  admin.Health{CanAccept: bothReady(j.Ready, receiverConfig.Door.Ready), ElasticsearchUp: x.ElasticsearchUp},
		Metrics: reg, DeadLetters: j, Refusals: j, Door: door,
		Rebuilder: rebuilder{x}, Verifier: verifies{verifier},
		Status: admin.StatusParts{
			Journal: j, Index: index{client, indices, set}, Waiting: waitingIn(x),
			Deliveries: last, History: s.history, Now: time.Now, Started: time.Now(),
		},
		MaxBody: receiverConfig.MaxBody, Log: log,
	})
	if s.admin, err = listen(ctx, "administration", c.AdminListen, administration, log); err != nil {
		return nil, err
	}
	return s, nil
}

// URL is where deliveries go, without the path prefix.
func (s *service) URL() string { return s.deliveries.url() }

// AdminURL is where metrics and health are.
func (s *service) AdminURL() string { return s.admin.url() }

// Run works until ctx is done or a listener breaks, and then stops in the
// reverse of the order in which data flows would need: no more deliveries, then
// the indexer, then the journal. It may be called once.
func (s *service) Run(ctx context.Context) error {
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.deliveries.serve(stop)
	s.admin.serve(stop)

	indexing, stopIndexing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopIndexing()
	indexed := make(chan error, 1)
	go func() { indexed <- s.indexer.Run(indexing) }()
	remembered := make(chan struct{})
	go func() { defer close(remembered); s.history.Run(indexing) }()

	<-working.Done()
	s.log.Info("stopping: no more deliveries")
	err := s.deliveries.shutdown(stopDeliveries)
	stopIndexing()
	<-remembered
	err = errors.Join(err, <-indexed, s.admin.shutdown(stopAdmin), s.journal.Close())
	if ctx.Err() == nil {
		err = errors.Join(context.Cause(working), err)
	}
	return err
}

// bothReady tells what keeps deliveries from being accepted.
func bothReady(journal, door func() error) func() error {
	return func() error { return cmp.Or(journal(), door()) }
}

func appendHistogram(reg prometheus.Registerer) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "riskdex_journal_append_seconds",
		Help:    "Time to make a delivery durable.",
		Buckets: []float64{.0005, .001, .002, .004, .008, .016, .032, .064, .125, .25, .5, 1, 5, 30},
	})
	reg.MustRegister(h)
	return h
}

// redacted hides a password in a URL.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(not a URL)"
	}
	return u.Redacted()
}
