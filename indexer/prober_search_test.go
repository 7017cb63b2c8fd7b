package indexer_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// TestProberSearchesAsAppsDo: that a search fails is told from its first failure until it
// is answered, and the probe goes its own way meanwhile.
func TestProberSearchesAsAppsDo(t *testing.T) {
	r := start(t, probed())
	var trouble atomic.Pointer[error]
	var tries atomic.Int64
	p := r.probeFor(often(), r.journal, func(context.Context) error {
		tries.Add(1)
		if err := trouble.Load(); err != nil {
			return *err
		}
		return nil
	})
	failing := func() float64 { return p.metric("riskdex_search_failing_seconds") }
	r.eventually("it is tried often", func() bool { return tries.Load() > 3 })
	if fails, age := p.prober.SearchFails(), failing(); fails != nil || age != 0 {
		t.Errorf("%+v, for %v s", fails, age)
	}
	closed := errors.New("index_closed_exception")
	trouble.Store(&closed)
	r.eventually("it is told", func() bool { return p.prober.SearchFails() != nil })
	since := p.prober.SearchFails().Since
	first := failing()
	r.eventually("its age grows", func() bool { return failing() > first && first > 0 })
	if fails := p.prober.SearchFails(); fails.Err != closed || !fails.Since.Equal(since) || time.Since(since) > time.Minute {
		t.Errorf("after some tries: %+v, at first since %v", fails, since)
	}
	p.finds(1)
	trouble.Store(nil)
	r.eventually("it is over", func() bool { return p.prober.SearchFails() == nil && failing() == 0 })
}
