package admin

import (
	"strings"
	"sync"
	"time"

	"riskdex/report"
)

// Delivery is a request that the receiver answered.
type Delivery struct {
	At       time.Time   `json:"at"`
	Kind     report.Kind `json:"kind"`           // empty if the path named none
	ID       string      `json:"id,omitempty"`   // of the document, or of the first of several, if known
	Path     string      `json:"path,omitempty"` // if it is not that of a delivery
	Method   string      `json:"method"`
	Status   int         `json:"status"`
	Reason   string      `json:"reason,omitempty"` // if nothing was accepted
	Accepted int         `json:"accepted"`         // documents
	Refused  int         `json:"refused"`          // single records
}

// lastDeliveries is how many deliveries are remembered.
const lastDeliveries = 20

// longestMethod is how many bytes are kept of a method, which strangers may choose.
const longestMethod = 10

// Deliveries remembers the last deliveries, in memory. The zero value is empty. Its methods may be
// called concurrently.
type Deliveries struct {
	mu   sync.Mutex
	ring [lastDeliveries]Delivery
	seen int
}

// Note remembers a delivery.
func (d *Deliveries) Note(one Delivery) {
	if len(one.Method) > longestMethod {
		one.Method = strings.Clone(one.Method[:longestMethod]) // a slice would keep all of it in memory
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ring[d.seen%lastDeliveries] = one
	d.seen++
}

// Last returns the remembered deliveries, newest first.
func (d *Deliveries) Last() []Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	var last []Delivery
	for i := d.seen - 1; i >= max(0, d.seen-lastDeliveries); i-- {
		last = append(last, d.ring[i%lastDeliveries])
	}
	return last
}
