package indexer_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"

	"riskdex/report"
)

// ledger knows what the journal acknowledged, apart from it.
type ledger struct {
	acknowledged atomic.Int64
	mu           sync.Mutex
	newest       map[report.Key]int // the number in the newest body; 0 when deleted
}

// load makes creates, corrections and deletes from several senders, each on
// documents of its own, until stopped.
func (r *rig) load(senders int) (*ledger, func()) {
	l := &ledger{newest: map[report.Key]int{}}
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
				key := report.Key{Kind: report.Kinds()[rand.IntN(3)], ID: report.ID(fmt.Sprintf("%d-%d", sender, rand.IntN(40)))}
				c, number := index(key.Kind, string(key.ID), fmt.Sprintf(`{"n":%d,"text":%q}`, n, strings.Repeat("word ", 40))), n
				if rand.IntN(5) == 0 {
					c, number = remove(key.Kind, string(key.ID)), 0
				}
				if _, err := r.journal.Append(r.t.Context(), report.Delivery{Changes: []report.Change{c}}); err != nil {
					r.t.Errorf("not acknowledged: %v", err)
					return
				}
				l.mu.Lock()
				l.newest[key] = number
				l.mu.Unlock()
				l.acknowledged.Add(1)
			}
		})
	}
	var once sync.Once
	stop := func() { once.Do(func() { close(done); running.Wait() }) }
	r.t.Cleanup(stop)
	return l, stop
}

// check compares the index with the ledger: nothing acknowledged missing,
// nothing deleted there, the newest body everywhere, and no dead letter.
func (l *ledger) check(r *rig) {
	r.t.Helper()
	r.drained()
	for _, kind := range report.Kinds() {
		found := r.numbers(kind)
		for key, n := range l.newest {
			if key.Kind != kind {
				continue
			}
			got, there := found[string(key.ID)]
			if n == 0 && there {
				r.t.Errorf("%v: deleted, yet in the index with number %d", key, got)
			}
			if n != 0 && got != n {
				r.t.Errorf("%v: number %d was acknowledged, the index has %d", key, n, got)
			}
			delete(found, string(key.ID))
		}
		if len(found) > 0 {
			r.t.Errorf("%s: in the index, but never delivered: %v", kind, found)
		}
		if n := r.stats().Kinds[kind].DeadLetters; n > 0 {
			r.t.Errorf("%s: %d dead letters", kind, n)
		}
	}
}

// numbers returns the number in the body of every document that a search finds.
func (r *rig) numbers(kind report.Kind) map[string]int {
	r.t.Helper()
	r.change("POST", "/"+r.indices.Alias(kind)+"/_refresh", "")
	_, answer := r.ask("POST", "/"+r.indices.Alias(kind)+"/_search", `{"size":10000,"_source":["source"]}`)
	text, err := json.Marshal(answer)
	must(r.t, err)
	var found struct {
		Hits struct {
			Hits []struct {
				ID     string `json:"_id"`
				Source struct {
					Source struct{ N int }
				} `json:"_source"`
			}
		}
	}
	must(r.t, json.Unmarshal(text, &found))
	numbers := map[string]int{}
	for _, hit := range found.Hits.Hits {
		numbers[hit.ID] = hit.Source.Source.N
	}
	return numbers
}

// atLeast waits until n more deliveries are acknowledged.
func (l *ledger) atLeast(r *rig, n int64) {
	goal := l.acknowledged.Load() + n
	r.eventually(fmt.Sprintf("%d more deliveries", n), func() bool { return l.acknowledged.Load() >= goal })
}

// superseded returns how many changes were overtaken by newer ones.
func (r *rig) superseded() (n uint64) {
	r.t.Helper()
	for _, k := range r.stats().Kinds {
		n += k.Settled[report.Superseded]
	}
	return n
}
