package commit

import (
	"sync"
)

// Signal wakes the goroutine that receives from it. If nobody is waiting, it wakes the next
// receiver, once, however often Notify was called.
type Signal chan struct{}

// NewSignal returns a Signal.
func NewSignal() Signal { return make(Signal, 1) }

// Notify wakes the receiver. It never blocks, and may be called concurrently.
func (s Signal) Notify() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// Broadcast wakes everyone who waits for it.
type Broadcast struct {
	mu      sync.Mutex
	waiting chan struct{} // nil while nobody waits
}

// Next returns a channel that is closed with the next Notify.
func (b *Broadcast) Next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting == nil {
		b.waiting = make(chan struct{})
	}
	return b.waiting
}

// Notify wakes everyone who waits. It never blocks.
func (b *Broadcast) Notify() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting != nil {
		close(b.waiting)
		b.waiting = nil
	}
}
