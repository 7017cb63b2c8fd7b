package admin

import (
	"strings"
	"sync"
	"time"

	"riskdex/report"
)

// Delivery is a request that the receiver has answered.
type Delivery struct {
	At       time.Time   `json:"at"`
	Kind     report.Kind `json:"kind"`           // empty when the path named none
	ID       string      `json:"id,omitempty"`   // of the document, or of the first of several, as far as it is known
	Path     string      `json:"path,omitempty"` // where that is none of a delivery
	Method   string      `json:"method"`
	Status   int         `json:"status"`
	Reason   string      `json:"reason,omitempty"` // where nothing was accepted
	Accepted int         `json:"accepted"`         // documents
	Refused  int         `json:"refused"`          // records, one by one
}

// lastDeliveries is how many are remembered.
const lastDeliveries = 20

// longestMethod is how much is kept of a method, which strangers choose.
const longestMethod = 10

// Deliveries remembers the last ones, in memory. The zero value is empty; its
// methods may be called by many goroutines at the same time.
type Deliveries struct {
	mu   sync.Mutex
	ring [lastDeliveries]Delivery
	seen int
}

// Note remembers one more.
func (d *Deliveries) Note(one Delivery) {
	if len(one.Method) > longestMethod {
		one.Method = strings.Clone(one.Method[:longestMethod]) // or all of it would stay in memory
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ring[d.seen%lastDeliveries] = one
	d.seen++
}

// Last returns what is remembered, newest first.
func (d *Deliveries) Last() []Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	var last []Delivery
	for i := d.seen - 1; i >= max(0, d.seen-lastDeliveries); i-- {
		last = append(last, d.ring[i%lastDeliveries])
	}
	return last
}
