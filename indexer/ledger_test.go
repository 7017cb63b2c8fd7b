package indexer_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"riskdex/internal/testkit/indexertest"
	"riskdex/internal/testkit/ledgertest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// ledger records what the journal acknowledged, outside of it.
type ledger struct{ *ledgertest.Ledger }

// load appends creates, corrections and deletes until stopped.
func (r *rig) load(senders int) (*ledger, func()) {
	l := &ledger{ledgertest.New()}
	return l, r.loadInto(l, senders)
}

// loadInto is load with a ledger that already has entries.
func (r *rig) loadInto(l *ledger, senders int) (stop func()) {
	stop = l.Load(senders, func(key report.Key, n int) bool {
		c := indexertest.Index(key.Kind, string(key.ID), fmt.Sprintf(`{"n":%d,"text":%q}`, n, strings.Repeat("word ", 40)))
		if n == 0 {
			c = indexertest.Delete(key.Kind, string(key.ID))
		}
		if _, err := r.Journal.Append(r.T.Context(), report.Delivery{Changes: []report.Change{c}}); err != nil {
			r.T.Errorf("not acknowledged: %v", err)
			return false
		}
		return true
	})
	r.T.Cleanup(stop)
	return stop
}

// check compares the index with the ledger once nothing is pending, and checks that there
// is no dead letter.
func (l *ledger) check(r *rig) {
	r.T.Helper()
	r.Drained()
	found := map[report.Key]int{}
	for _, kind := range report.Kinds() {
		for id, n := range r.numbers(kind) {
			found[report.Key{Kind: kind, ID: report.ID(id)}] = n
		}
		if n := r.Stats().Kinds[kind].DeadLetters; n > 0 {
			r.T.Errorf("%s: %d dead letters", kind, n)
		}
	}
	l.Check(r.T, found)
}

// numbers returns the number in the body of every document that a search finds.
func (r *rig) numbers(kind report.Kind) map[string]int {
	r.T.Helper()
	r.Change("POST", "/"+r.Indices.Alias(kind)+"/_refresh", "")
	_, answer := r.Ask("POST", "/"+r.Indices.Alias(kind)+"/_search", `{"size":10000,"_source":["source"]}`)
	text, err := json.Marshal(answer)
	require.NoError(r.T, err)
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
	require.NoError(r.T, json.Unmarshal(text, &found))
	numbers := map[string]int{}
	for _, hit := range found.Hits.Hits {
		numbers[hit.ID] = hit.Source.Source.N
	}
	return numbers
}

// atLeast waits until n more deliveries are acknowledged.
func (l *ledger) atLeast(r *rig, n int64) {
	goal := l.Acknowledged() + n
	r.Eventually(fmt.Sprintf("%d more deliveries", n), func() bool { return l.Acknowledged() >= goal })
}

// superseded returns how many changes were superseded.
func (r *rig) superseded() (n uint64) {
	r.T.Helper()
	for _, k := range r.Stats().Kinds {
		n += k.Settled[report.Superseded]
	}
	return n
}
