// Package ledgertest keeps a ledger of acknowledged deliveries outside of riskdex, to compare
// with what is found in the end.
package ledgertest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/report"
)

// Ledger knows the newest delivery of every document. It may be used concurrently.
type Ledger struct {
	acknowledged atomic.Int64
	mu           sync.Mutex
	newest       map[report.Key]int
}

// New returns a ledger without entries.
func New() *Ledger { return &Ledger{newest: map[report.Key]int{}} }

// Note records that a delivery was acknowledged. n is the number in its body, or 0 for a
// delete.
func (l *Ledger) Note(key report.Key, n int) {
	l.mu.Lock()
	l.newest[key] = n
	l.mu.Unlock()
	l.acknowledged.Add(1)
}

// Acknowledged returns the number of deliveries recorded.
func (l *Ledger) Acknowledged() int64 { return l.acknowledged.Load() }

// pace is how long a sender waits after each delivery: many tests wait for servers meanwhile, and
// need some of the machine for that.
const pace = 10 * time.Millisecond

// Load calls deliver with creates, corrections and deletes (n is 0) from several goroutines
// until stop is called, which waits for them. Each goroutine has documents of its own, so that
// the order of their changes is certain, and records each delivery. It ends if deliver returns
// false, without recording that delivery.
func (l *Ledger) Load(senders int, deliver func(key report.Key, n int) bool) (stop func()) {
	done := make(chan struct{})
	var running sync.WaitGroup
	for sender := range senders {
		running.Go(func() {
			for n := 1; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				key := report.Key{
					Kind: report.Kinds()[rand.IntN(3)], ID: report.ID(fmt.Sprintf("sender %d/%d", sender, rand.IntN(40))),
				}
				number := n
				if rand.IntN(5) == 0 {
					number = 0
				}
				if !deliver(key, number) {
					return
				}
				l.Note(key, number)
				time.Sleep(pace)
			}
		})
	}
	return sync.OnceFunc(func() { close(done); running.Wait() })
}

// Check compares the ledger with the numbers in the bodies that were found: every document
// must have its newest body, and no deleted or unknown document may be there.
func (l *Ledger) Check(t testing.TB, found map[report.Key]int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, n := range l.newest {
		switch got, there := found[key]; {
		case n == 0 && there:
			t.Errorf("%v: deleted, yet in the index with number %d", key, got)
		case n != 0 && got != n:
			t.Errorf("%v: number %d was acknowledged, the index has %d", key, n, got)
		}
	}
	for key := range found {
		if _, known := l.newest[key]; !known {
			t.Errorf("%v: in the index, but never delivered", key)
		}
	}
}
