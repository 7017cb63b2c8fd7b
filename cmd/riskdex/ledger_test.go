package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/push"
	"riskdex/report"
)

// ledger knows, outside of riskdex, what was acknowledged.
type ledger struct {
	acknowledged atomic.Int64
	mu           sync.Mutex
	newest       map[report.Key]int // the number in the newest body; 0 when deleted
}

// load sends deliveries from many senders until it is stopped. A delivery that
// is not acknowledged is sent again, so that in the end the ledger is exact.
type load struct {
	*ledger
	stop func()
}

func startLoad(p *process, senders int) *load {
	l := &load{ledger: &ledger{newest: map[report.Key]int{}}}
	done := make(chan struct{})
	var running sync.WaitGroup
	for sender := range senders {
		running.Go(func() {
			for n := 1; ; n++ {
				select {
				case <-done:
					return
				default:
					l.deliver(p, sender, n)
				}
			}
		})
	}
	l.stop = func() {
		close(done)
		running.Wait()
	}
	return l
}

// deliver makes one delivery for a document of this sender's own, so that the
// order of its changes is certain.
func (l *load) deliver(p *process, sender, n int) {
	kind := report.Kinds()[rand.IntN(3)]
	key := report.Key{Kind: kind, ID: report.ID(fmt.Sprintf("sender %d/%d", sender, rand.IntN(30)))}
	path := push.Path(kind, key.ID)
	method, body := http.MethodPut, fmt.Sprintf(`{"n":%d,"text":"delivery %d of sender %d"}`, n, n, sender)
	if rand.IntN(5) == 0 {
		method, body, n = http.MethodDelete, "", 0
	}
	for {
		status, err := p.try(method, path, body)
		if err == nil && status == http.StatusAccepted {
			break
		}
		time.Sleep(5 * time.Millisecond) // riskdex is away; do not spin
	}
	l.note(key, n)
}

// note notes that a delivery was acknowledged.
func (l *ledger) note(key report.Key, n int) {
	l.mu.Lock()
	l.newest[key] = n
	l.mu.Unlock()
	l.acknowledged.Add(1)
}

// more waits until n more deliveries are acknowledged.
func (l *ledger) more(t *testing.T, n int64) {
	t.Helper()
	goal := l.acknowledged.Load() + n
	eventually(t, fmt.Sprintf("%d more deliveries are acknowledged", n), func() bool { return l.acknowledged.Load() >= goal })
}

// check compares the index with the ledger: nothing acknowledged missing,
// nothing deleted there, the newest body everywhere.
func (l *load) check(p *process) {
	p.t.Helper()
	p.drained()
	found := map[report.Key]int{}
	for _, kind := range report.Kinds() {
		for id, source := range p.indexed(kind) {
			var body struct{ N int }
			must(p.t, json.Unmarshal(source, &body))
			found[report.Key{Kind: kind, ID: report.ID(id)}] = body.N
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, n := range l.newest {
		switch got, there := found[key]; {
		case n == 0 && there:
			p.t.Errorf("%v: deleted, yet in the index with number %d", key, got)
		case n != 0 && got != n:
			p.t.Errorf("%v: number %d was acknowledged, the index has %d", key, n, got)
		}
		delete(found, key)
	}
	for key := range found {
		p.t.Errorf("%v: in the index, but never delivered", key)
	}
}
