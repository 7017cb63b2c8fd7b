package indexer

import "sync"

// traffic tracks the bulks under way, of all kinds.
type traffic struct {
	lock sync.RWMutex // locked for writing by a bulk that must be the only one

	mu       sync.Mutex
	underWay int
	begun    int
}

// begin notes that a bulk begins, and end that it has ended. With only, it waits until no other
// is under way, and others wait for its end. In either case, end returns whether the bulk was
// the only one all the time.
func (t *traffic) begin(only bool) (end func() (wasOnly bool)) {
	unlock := t.lock.RUnlock
	if only {
		t.lock.Lock()
		unlock = t.lock.Unlock
	} else {
		t.lock.RLock()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.underWay++
	t.begun++
	free, number := t.underWay == 1, t.begun
	return func() bool {
		defer unlock()
		t.mu.Lock()
		defer t.mu.Unlock()
		t.underWay--
		return free && t.begun == number
	}
}
