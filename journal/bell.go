package journal

// bell wakes the one who waits for it. Rung while nobody waits, it wakes the next who
// does, once, however often it was rung.
type bell chan struct{}

func newBell() bell { return make(bell, 1) }

// ring never waits. Many may ring at the same time.
func (b bell) ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}
