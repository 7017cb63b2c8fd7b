package commit

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
