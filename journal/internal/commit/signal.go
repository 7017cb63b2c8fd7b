package commit

// Signal wakes the one who waits for it. Given while nobody waits, it wakes the next who
// does, once, however often it was given.
type Signal chan struct{}

// NewSignal returns a signal that was not given.
func NewSignal() Signal { return make(Signal, 1) }

// Notify wakes whoever waits. It never blocks; many may call it at the same time.
func (s Signal) Notify() {
	select {
	case s <- struct{}{}:
	default:
	}
}
