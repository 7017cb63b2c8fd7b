package indexer

import (
	"sync"

	"riskdex/report"
)

// order is what somebody outside asks of the dispatcher.
type order struct {
	kind     report.Kind
	stop     bool       // stop the rebuild; otherwise start one
	takeOver bool       // start it also where another journal fills the index
	reply    chan error // has room for the answer
}

// orders carries orders to the dispatcher while it runs.
type orders struct {
	given          chan order
	begun, stopped chan struct{} // closed when the dispatcher has begun, and stopped, to take orders
}

func newOrders() *orders {
	return &orders{given: make(chan order), begun: make(chan struct{}), stopped: make(chan struct{})}
}

// give waits until the dispatcher has decided on an order, which it does at once.
func (o *orders) give(what order) error {
	select {
	case <-o.begun:
	default:
		return ErrNotRunning
	}
	what.reply = make(chan error, 1)
	select {
	case o.given <- what:
		return <-what.reply
	case <-o.stopped:
		return ErrNotRunning
	}
}

// board is where the dispatcher shows how far rebuilds are, and what waits.
type board struct {
	mu       sync.Mutex
	rebuilds map[report.Kind]Rebuild
	waiting  map[report.Kind]Waiting
	unlooked map[report.Kind]chan struct{} // of the kinds not yet looked at; closed when that is over
}

func newBoard() *board {
	b := &board{rebuilds: map[report.Kind]Rebuild{}, waiting: map[report.Kind]Waiting{}, unlooked: map[report.Kind]chan struct{}{}}
	for _, kind := range report.AllKinds() {
		b.unlooked[kind] = make(chan struct{})
	}
	return b
}

// show replaces what is shown for a kind, and returns what was.
func (b *board) show(r Rebuild) (before Rebuild) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before = b.rebuilds[r.Kind]
	b.rebuilds[r.Kind] = r
	return before
}

// all returns what is shown of content, in the order of the kinds.
func (b *board) all() []Rebuild {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Rebuild
	for _, kind := range report.Kinds() {
		if r, ok := b.rebuilds[kind]; ok {
			all = append(all, r)
		}
	}
	return all
}
