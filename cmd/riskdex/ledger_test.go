package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"riskdex/internal/push"
	"riskdex/internal/testkit/ledgertest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// load sends deliveries until it is stopped. Its ledger records, outside of riskdex, what was
// acknowledged.
type load struct {
	*ledgertest.Ledger
	stop func()
}

func startLoad(p *process, senders int) *load {
	l := &load{Ledger: ledgertest.New()}
	l.stop = l.Load(senders, p.deliver)
	return l
}

// deliver makes one delivery with the number n in its body, or a delete if n is 0. It
// repeats the delivery until it is acknowledged, so that the ledger is exact in the end.
func (p *process) deliver(key report.Key, n int) bool {
	method, path, body := delivery(key, n)
	for {
		status, err := p.try(method, path, body)
		if err == nil && status == http.StatusAccepted {
			return true
		}
		time.Sleep(5 * time.Millisecond) // riskdex is down; do not spin
	}
}

func delivery(key report.Key, n int) (method, path, body string) {
	if n == 0 {
		return http.MethodDelete, push.Path(key.Kind, key.ID), ""
	}
	return http.MethodPut, push.Path(key.Kind, key.ID), fmt.Sprintf(`{"n":%d,"title":"Delivery %d","country":"GB","risk_level":2,"text":"delivery %d of %s"}`, n, n, n, key.ID)
}

// more waits until n more deliveries are acknowledged.
func (l *load) more(t *testing.T, n int64) {
	t.Helper()
	goal := l.Acknowledged() + n
	eventually(t, fmt.Sprintf("%d more deliveries are acknowledged", n), func() bool { return l.Acknowledged() >= goal })
}

// check compares the index with the ledger once nothing is pending.
func (l *load) check(p *process) {
	p.t.Helper()
	p.drained()
	found := map[report.Key]int{}
	for _, kind := range report.Kinds() {
		for id, source := range p.indexed(kind) {
			var body struct{ N int }
			require.NoError(p.t, json.Unmarshal(source, &body))
			found[report.Key{Kind: kind, ID: report.ID(id)}] = body.N
		}
	}
	l.Check(p.t, found)
}
