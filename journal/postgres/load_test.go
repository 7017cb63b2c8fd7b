package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// load has senders that deliver to all processes, and workers that claim from them as an
// indexer does, while the test causes faults.
type load struct {
	t     *testing.T
	list  []*Journal
	over  chan struct{}
	ended sync.WaitGroup

	mu       sync.Mutex
	newest   map[report.Key]report.Version // acknowledged
	bodies   map[report.Version]string     // of what was acknowledged
	index    map[report.Key]report.Version // with external versions
	contents map[report.Key]string

	acknowledged, failed atomic.Int64
}

func loadOn(t *testing.T, list []*Journal) *load {
	l := &load{
		t: t, list: list, over: make(chan struct{}), newest: map[report.Key]report.Version{}, bodies: map[report.Version]string{},
		index: map[report.Key]report.Version{}, contents: map[report.Key]string{},
	}
	for n, j := range list {
		for s := range 4 {
			l.ended.Go(func() { l.send(j, fmt.Sprint(n, ".", s)) })
		}
		l.ended.Go(func() { l.work(j) })
	}
	return l
}

func (l *load) isOver() bool {
	select {
	case <-l.over:
		return true
	default:
		return false
	}
}

func (l *load) send(j *Journal, name string) {
	for i := 0; !l.isOver(); i++ {
		body := fmt.Sprintf("%s.%d", name, i)
		ctx, cancel := context.WithTimeout(context.Background(), journaltest.Timeout)
		d := journaltest.Put(fmt.Sprint(rand.IntN(20)), body)
		stamps, err := j.Append(ctx, d)
		if ctx.Err() != nil {
			l.t.Error("Append hangs")
		}
		cancel()
		if err != nil {
			l.failed.Add(1)
			time.Sleep(rand.N(10 * time.Millisecond)) // as a sender would
			continue
		}
		l.mu.Lock()
		l.newest[stamps[0].Key] = max(l.newest[stamps[0].Key], stamps[0].Version)
		l.bodies[stamps[0].Version] = body
		l.mu.Unlock()
		l.acknowledged.Add(1)
	}
}

// work is a worker: it writes what it claims to a fake index, unless that has a later
// version, and sometimes fails.
func (l *load) work(j *Journal) {
	for !l.isOver() {
		l.workOnce(j)
	}
}

func (l *load) workOnce(j *Journal) {
	ctx, cancel := context.WithTimeout(context.Background(), journaltest.Timeout)
	defer cancel()
	changes, err := j.Claim(ctx, report.Advisories, 5, 1<<20)
	if err != nil || len(changes) == 0 {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			l.t.Error("Claim hangs")
		}
		select {
		case <-j.Changed():
		case <-time.After(20 * time.Millisecond):
		}
		return
	}
	var list []report.Settlement
	l.mu.Lock()
	for _, c := range changes {
		s := report.Settlement{Key: c.Key, Version: c.Version, Outcome: report.Indexed}
		switch {
		case rand.IntN(10) == 0:
			s.Outcome = report.Retry
		case c.Version > l.index[c.Key]:
			l.index[c.Key], l.contents[c.Key] = c.Version, string(c.Body)
		case c.Version < l.index[c.Key]:
			s.Outcome = report.Superseded
		}
		list = append(list, s)
	}
	l.mu.Unlock()
	for ctx.Err() == nil && j.Settle(ctx, list) != nil {
		time.Sleep(5 * time.Millisecond)
	}
}

// more waits until that many further deliveries are acknowledged.
func (l *load) more(n int64) {
	l.t.Helper()
	before := l.acknowledged.Load()
	journaltest.Eventually(l.t, "deliveries are acknowledged", func() bool { return l.acknowledged.Load() >= before+n })
}

// end stops the load, waits until everything is settled, and checks that what was
// acknowledged is in the journal and has arrived in the index.
func (l *load) end() {
	l.t.Helper()
	close(l.over)
	l.ended.Wait()
	journaltest.Eventually(l.t, "everything is settled", func() bool {
		for _, j := range l.list {
			l.workOnce(j)
		}
		s, err := l.list[0].Stats(l.t.Context())
		k := s.Kinds[report.Advisories]
		return err == nil && k.Pending == 0 && k.Resending == 0
	})
	sumsHold(l.t, l.list...)
	entries, err := l.list[0].Entries(l.t.Context(), report.Advisories, "", 1000)
	require.NoError(l.t, err)
	have := map[report.Key]report.Version{}
	for _, e := range entries {
		have[e.Key] = e.Version
		if l.index[e.Key] != e.Version {
			l.t.Errorf("%s: the index has version %d, but %d is the newest", e.ID, l.index[e.Key], e.Version)
		}
	}
	for k, v := range maps.Clone(l.newest) {
		switch got := have[k]; {
		case got < v:
			l.t.Errorf("%s: version %d was acknowledged, and the journal has %d", k.ID, v, got)
		case got == v && l.contents[k] != l.bodies[v]:
			l.t.Errorf("%s: the index has %q in version %d, acknowledged was %q", k.ID, l.contents[k], v, l.bodies[v])
		}
	}
	l.t.Logf("%d deliveries acknowledged, %d not", l.acknowledged.Load(), l.failed.Load())
}
