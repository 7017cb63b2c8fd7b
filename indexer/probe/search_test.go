package probe_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/indexer/probe"
	"riskdex/internal/testkit/indexertest"
)

// TestSearcherSearchesAsAppsDo: a failing search is reported from its first failure until it is
// answered, and is tried more often meanwhile.
func TestSearcherSearchesAsAppsDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var trouble error
		var tries int
		reg := prometheus.NewRegistry()
		s := probe.NewSearcher(func(context.Context) error {
			tries++
			return trouble
		}, 15*time.Second, reg, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		go s.Run(ctx)
		tried := func(d time.Duration, times int) {
			t.Helper()
			before := tries
			time.Sleep(d)
			synctest.Wait()
			if n := tries - before; n != times {
				t.Errorf("within %v it is tried %d times, want %d", d, n, times)
			}
		}
		failing := func() float64 {
			return (&indexertest.Rig{T: t, Registry: reg}).Metric("riskdex_search_failing_seconds")
		}
		tried(time.Second, 1)
		tried(time.Minute, 4)
		if fails, age := s.Fails(), failing(); fails != nil || age != 0 {
			t.Errorf("%+v, for %v s", fails, age)
		}
		closed := errors.New("index_closed_exception")
		trouble = closed
		tried(15*time.Second, 1)
		since := s.Fails().Since
		tried(time.Minute, 30)
		if fails := s.Fails(); fails.Err != closed || !fails.Since.Equal(since) || failing() != time.Since(since).Seconds() {
			t.Errorf("after a minute: %+v, for %v s, at first since %v", fails, failing(), since)
		}
		trouble = nil
		tried(2*time.Second, 1)
		if fails, age := s.Fails(), failing(); fails != nil || age != 0 {
			t.Errorf("it is over: %+v, for %v s", fails, age)
		}
		cancel()
	})
}
