package admin

import (
	"strings"
	"sync"

	"riskdex/report"
)

// lastDeliveries is how many deliveries are remembered.
const lastDeliveries = 20

// longestMethod is how many bytes are kept of a method, which unauthenticated senders may choose.
const longestMethod = 10

// Deliveries remembers the last deliveries, in memory. The zero value is empty. Its methods
// may be called concurrently.
type Deliveries struct {
	mu   sync.Mutex
	ring [lastDeliveries]report.Answered
	seen int
}

// Note remembers a delivery.
func (d *Deliveries) Note(one report.Answered) {
	if len(one.Method) > longestMethod {
		one.Method = strings.Clone(one.Method[:longestMethod]) // a slice would keep all of it in memory
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ring[d.seen%lastDeliveries] = one
	d.seen++
}

// Last returns the remembered deliveries, newest first.
func (d *Deliveries) Last() []report.Answered {
	d.mu.Lock()
	defer d.mu.Unlock()
	var last []report.Answered
	for i := d.seen - 1; i >= max(0, d.seen-lastDeliveries); i-- {
		last = append(last, d.ring[i%lastDeliveries])
	}
	return last
}
