package probe

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Search searches as apps do. The error says why there is no complete answer.
type Search func(context.Context) error

// SearchFailure says since when each search has failed, and how the last one did.
type SearchFailure struct {
	Since time.Time
	Err   error
}

// following returns the failure after a search that began then; nil if it was answered.
func following(was *SearchFailure, began time.Time, err error) *SearchFailure {
	switch {
	case err == nil:
		return nil
	case was != nil:
		began = was.Since
	}
	return &SearchFailure{began, err}
}

// Searcher searches as apps do, over all kinds, and reports whether that search is answered.
type Searcher struct {
	search Search
	every  time.Duration
	log    *slog.Logger
	fails  atomic.Pointer[SearchFailure]
}

// NewSearcher returns a Searcher that does not run yet. every is the time from one search to the
// next, and must be greater than zero.
func NewSearcher(search Search, every time.Duration, reg prometheus.Registerer, log *slog.Logger) *Searcher {
	s := &Searcher{search: search, every: every, log: log}
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "riskdex_search_failing_seconds",
		Help: "How long the search that apps make has failed; 0 if the last one succeeded.",
	}, func() float64 {
		if fails := s.fails.Load(); fails != nil {
			return age(&fails.Since).Seconds()
		}
		return 0
	}))
	return s
}

// Fails returns since when each search has failed, and why; nil if the last one was answered, or
// there was none yet. It may be called concurrently.
func (s *Searcher) Fails() *SearchFailure { return s.fails.Load() }

// Run searches until ctx is done, more often while that fails. It may be called once.
func (s *Searcher) Run(ctx context.Context) {
	logAfter := firstAnswer
	for said := false; ; {
		began, next := time.Now(), s.every
		err := s.tried(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			logAfter = searchAgain
		} else {
			next = min(next, searchAgain)
		}
		was := s.fails.Load()
		fails := following(was, began, err)
		s.fails.Store(fails)
		switch {
		case err == nil && said:
			s.log.Info("search answers apps again", "after", time.Since(was.Since).Round(time.Millisecond))
			said = false
		case err != nil && !said && time.Since(fails.Since) >= logAfter:
			s.log.Error("search fails for apps; it is tried again from time to time", "since", fails.Since, "error", err)
			said = true
		}
		if !pause(ctx, next-time.Since(began)) {
			return
		}
	}
}

// Bounds of searching.
const (
	searchAgain = 2 * time.Second  // the longest wait after a failed search, and how long searches fail before the log says so
	firstAnswer = 30 * time.Second // that until one has been answered: at the first start the indices are still to be made
)

func (s *Searcher) tried(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	return s.search(ctx)
}
