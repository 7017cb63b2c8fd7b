package probe_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/indexer/indexertest"
)

// TestProberSearchesAsAppsDo: a failing search is reported from its first failure until
// it is answered. Meanwhile the probe continues.
func TestProberSearchesAsAppsDo(t *testing.T) {
	r := indexertest.Start(t, indexertest.Probed())
	var trouble atomic.Pointer[error]
	var tries atomic.Int64
	p := r.ProbeFor(indexertest.Often(), r.Journal, func(context.Context) error {
		tries.Add(1)
		if err := trouble.Load(); err != nil {
			return *err
		}
		return nil
	})
	failing := func() float64 { return p.Metric("riskdex_search_failing_seconds") }
	r.Eventually("it is tried often", func() bool { return tries.Load() > 3 })
	if fails, age := p.Prober.SearchFails(), failing(); fails != nil || age != 0 {
		t.Errorf("%+v, for %v s", fails, age)
	}
	closed := errors.New("index_closed_exception")
	trouble.Store(&closed)
	r.Eventually("it is told", func() bool { return p.Prober.SearchFails() != nil })
	since := p.Prober.SearchFails().Since
	first := failing()
	r.Eventually("its age grows", func() bool { return failing() > first && first > 0 })
	if fails := p.Prober.SearchFails(); fails.Err != closed || !fails.Since.Equal(since) || time.Since(since) > time.Minute {
		t.Errorf("after some tries: %+v, at first since %v", fails, since)
	}
	p.Finds(1)
	trouble.Store(nil)
	r.Eventually("it is over", func() bool { return p.Prober.SearchFails() == nil && failing() == 0 })
}
