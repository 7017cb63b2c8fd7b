package main

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"riskdex/admin"
	"riskdex/follow"
	"riskdex/indexer"
	"riskdex/indexer/probe"
	"riskdex/indexer/verify"
	"riskdex/internal/logsink"
	"riskdex/internal/reread"
	"riskdex/journal"
	"riskdex/search"
)

// Bounds of a stop as a whole and of its parts, below the 30 seconds that supervisors usually
// wait. Only stopWithin bounds the end of what was cut off and the closing of the journal, which
// a disk that hangs may delay for any time.
const (
	stopWithin     = 25 * time.Second
	stopDeliveries = 10 * time.Second
	stopAdmin      = time.Second
	stopProbe      = 2 * time.Second
)

// service is a whole riskdex. It listens from newService on, and answers while Run runs.
type service struct {
	log        *slog.Logger
	journal    journal.Journal
	indexer    *indexer.Indexer
	searcher   *probe.Searcher // nil without a probe
	prober     *probe.Prober   // likewise
	coverage   *verify.Coverage
	fields     *verify.Fields
	history    *admin.History
	arrivals   *admin.Arrivals
	deliveries *endpoint
	admin      *endpoint
	searches   *endpoint        // nil unless apps search here
	follower   *follow.Follower // nil if the publisher delivers here
	tracing    *tracing
}

// newService opens the journal and both listeners. Elasticsearch need not be up yet.
func newService(ctx context.Context, c *serveCommand, log *slog.Logger, lines *logsink.Sink, files *reread.Group) (_ *service, err error) {
	var undo []func() error
	defer func() {
		if err != nil {
			for _, end := range slices.Backward(undo) {
				err = errors.Join(err, end())
			}
		}
	}()
	tracing := startTracing(ctx, log)
	undo = append(undo, func() error { tracing.stop(log); return nil })
	log = tracing.logger(log)
	w, err := newComponents(c, tracing.tracer(), func(observe func(seconds float64)) (journal.Journal, error) {
		opt := c.journalOptions(log)
		opt.Observe = observe
		j, err := openNamed(ctx, c.Journal, opt)
		if err != nil {
			return nil, err
		}
		undo = append(undo, j.Close)
		return j, nil
	}, log, lines, files)
	if err != nil {
		return nil, err
	}
	j, x := w.journal, w.indexer
	if w.follower == nil {
		if had, err := follow.End(ctx, j); err != nil {
			return nil, err
		} else if had {
			log.Warn("this riskdex follows nobody any more: it takes deliveries itself")
		}
	}
	s := &service{log: log, tracing: tracing, journal: j, indexer: x, searcher: w.searcher, prober: w.prober, coverage: w.coverage, fields: w.fields, history: admin.NewHistory(w.sums(), time.Now, log), arrivals: w.arrivals, follower: w.follower}
	if s.deliveries, err = c.listenForDeliveries(ctx, w, log); err != nil {
		return nil, err
	}
	undo = append(undo, s.deliveries.close)
	s.deliveries.server.RegisterOnShutdown(w.receiver.EndWaits)
	allow, err := c.allow(files, log)
	if err != nil {
		return nil, err
	}
	verifier, err := verify.New(verify.DefaultConfig(), j, w.indices, w.client)
	if err != nil {
		return nil, err
	}
	var missed *search.Missed
	if w.searches != nil {
		missed = w.searches.Missed
	}
	stopping := make(chan struct{})
	administration := admin.New(admin.Parts{
		Health:  admin.Health{CanAccept: w.canAccept, ElasticsearchUp: x.ElasticsearchUp},
		Metrics: w.registry, DeadLetters: j, Refusals: j, Receiver: w.receiver,
		Rebuilder: rebuilder{x}, Verifier: adminVerifier{verifier, x, j}, Losses: j, Missed: missed,
		Documents: j, Histories: j, Records: j, Reader: w.index(), Changes: j, Compared: x.Compared(), Reads: w.reads, Stopping: stopping,
		Backups: backupsOf(j), JournalInfo: journalInfo(c.Journal),
		Status: admin.StatusParts{
			Journal: w.sums(), Index: w.index(), Waiting: x.Waiting, WrongAliases: x.WrongAliases,
			Deliveries: w.last, History: s.history, Now: time.Now, Started: time.Now(),
			BackupEvery: c.backupEvery(), Expected: c.Expect.expected, Log: lines.State, Certificate: certificateIn(w.secured),
			Process: journal.ProcessName(), Line: j.Lineage(), Follows: followingIn(w.follower), SearchFails: searchFailsIn(w.searcher), Lacking: w.coverage.Lacking, Missing: w.coverage.Missing, Taken: w.coverage.Taken, Fields: w.fields.Counted, Probe: probeIn(w.prober, w.indices),
		},
		Allow: allow, MaxBody: w.maxBody, Memory: w.receiver.Memory(), Log: log,
	})
	if s.admin, err = c.listenForAdmin(ctx, c.AdminListen, c.guardAdmin, administration, files, log); err != nil {
		return nil, err
	}
	if c.SearchListen != "" {
		undo = append(undo, s.admin.close)
		if s.searches, err = c.SearchAPI.listen(ctx, c.SearchListen, w.searches, files, log); err != nil {
			return nil, err
		}
	}
	s.admin.server.RegisterOnShutdown(sync.OnceFunc(func() { close(stopping) }))
	return s, nil
}

// URL returns the address for deliveries, without the path prefix.
func (s *service) URL() string { return s.deliveries.url() }

// AdminURL returns the address of the admin listener.
func (s *service) AdminURL() string { return s.admin.url() }

// Run serves until ctx is done or a listener fails, and then stops the parts in the order in
// which data flows through them: the listener for deliveries, the indexer, then the journal.
// The last spans are sent at the end. It may be called once.
func (s *service) Run(ctx context.Context) error {
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.deliveries.serve(stop)
	s.admin.serve(stop)
	if s.searches != nil {
		s.searches.serve(stop)
	}

	indexing, stopIndexing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopIndexing()
	indexed := make(chan error, 1)
	go func() { indexed <- s.indexer.Run(indexing) }()
	var background sync.WaitGroup
	background.Go(func() { s.history.Run(indexing) })
	background.Go(func() { s.arrivals.Run(indexing) })
	background.Go(func() { s.coverage.Run(indexing) })
	if s.follower != nil {
		background.Go(func() { s.follower.Run(working) })
	} else {
		background.Go(func() {
			if err := follow.Begun(working, s.journal, lookBeside); err != nil {
				stop(err)
			}
		})
	}
	background.Go(func() { s.fields.Run(indexing) })
	if s.prober != nil {
		background.Go(func() { s.searcher.Run(indexing) })
		background.Go(func() { s.prober.Run(indexing) })
	}

	<-working.Done()
	s.log.Info("stopping: no more deliveries")
	// A thread that waits for a disk that hangs stays in the kernel, and keeps the sockets of
	// the process open. Close the listener in time, so that another process can have its
	// address.
	late := time.AfterFunc(stopWithin-lastLines-stopAdmin, func() { _ = s.admin.shutdown(0) })
	defer late.Stop()
	err := s.deliveries.shutdown(stopDeliveries)
	if s.searches != nil {
		err = errors.Join(err, s.searches.shutdown(stopAdmin))
	}
	if s.prober != nil && s.indexer.ElasticsearchUp() {
		last, end := context.WithTimeout(indexing, stopProbe)
		s.prober.Last(last)
		end()
	}
	stopIndexing()
	background.Wait()
	err = errors.Join(err, <-indexed, s.admin.shutdown(stopAdmin))
	s.admin.wait() // a backup that is cut off removes what it has made
	err = errors.Join(err, s.journal.Close())
	s.tracing.stop(s.log)
	if ctx.Err() == nil {
		err = errors.Join(context.Cause(working), err)
	}
	return err
}

// redacted hides a password in a URL.
func redacted(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return "(not a URL)"
	}
	return u.Redacted()
}
