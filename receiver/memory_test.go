package receiver

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func nobody() {}

// largeShare is one that has used up what is its own.
func largeShare(m *memory, wake func()) *share {
	s := m.share(wake)
	s.own = 0
	return s
}

// TestWhatTheOldestNeedsIsKept from the others, until it has ended. Then the next is the
// oldest, and need not wait for anybody else.
func TestWhatTheOldestNeedsIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(100, 40)
		old, next, young := largeShare(m, nobody), largeShare(m, nobody), largeShare(m, nobody)
		if err := errors.Join(old.grow(10), next.grow(30), young.grow(30)); err != nil {
			t.Fatal(err)
		}
		next.done() // so that it does not stall
		began := time.Now()
		if err := young.grow(1); !errors.Is(err, errNoMemory) || time.Since(began) != memoryPatience {
			t.Errorf("what is kept for the oldest: %v after %v", err, time.Since(began))
		}
		if err := old.grow(30); err != nil || time.Since(began) != memoryPatience {
			t.Errorf("the oldest: %v after %v", err, time.Since(began))
		}
		got := make(chan error, 1)
		go func() { got <- next.grow(40) }()
		synctest.Wait()
		old.leave()
		synctest.Wait()
		select {
		case err := <-got:
			if err != nil {
				t.Error(err)
			}
		default:
			t.Error("the next oldest still waits")
		}
	})
}

// TestWhoHasStalledGivesWay to whoever waits, but for the oldest. Those who bring a
// quarter in time keep what they hold.
func TestWhoHasStalledGivesWay(t *testing.T) {
	for what, c := range map[string]struct {
		brings int64 // every four seconds
		told   bool
	}{
		"nothing":        {0, true},
		"not a quarter":  {5, true},
		"a quarter":      {6, false},
		"more by and by": {100, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory(100, 50)
			woken := make(chan struct{})
			old, young := largeShare(m, nobody), largeShare(m, func() { close(woken) })
			if err := errors.Join(old.grow(50), young.grow(25), largeShare(m, nobody).grow(25)); err != nil {
				t.Fatal(err)
			}
			m.shares[2].done()
			go func() {
				for range 4 {
					time.Sleep(4 * time.Second)
					young.brought(c.brings)
				}
			}()
			go func() {
				select {
				case <-woken:
					young.leave()
				case <-time.After(time.Minute):
				}
			}()
			began := time.Now()
			err := largeShare(m, nobody).grow(10)
			switch took := time.Since(began); {
			case c.told && (err != nil || took != stalledAfter):
				t.Errorf("%s: %v after %v", what, err, took)
			case !c.told && (!errors.Is(err, errNoMemory) || took != memoryPatience):
				t.Errorf("%s: %v after %v", what, err, took)
			}
			if old.told || young.told != c.told || c.told && !errors.Is(young.grow(1), errNoMemory) {
				t.Errorf("%s: told: %t, %t", what, old.told, young.told)
			}
			time.Sleep(time.Minute) // those beside it end
		})
	}
}

// TestWhoCannotBringAnythingHasNotStalled: it waits for memory, or has brought all.
func TestWhoCannotBringAnythingHasNotStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(100, 50)
		old, waits, whole := largeShare(m, nobody), largeShare(m, nobody), largeShare(m, nobody)
		if err := errors.Join(old.grow(50), waits.grow(10), whole.grow(40)); err != nil {
			t.Fatal(err)
		}
		whole.done()
		got := make(chan error, 1)
		go func() { got <- waits.grow(10) }()
		go func() { _ = largeShare(m, nobody).grow(10) }()
		time.Sleep(memoryPatience - time.Second)
		if waits.told || whole.told {
			t.Errorf("told: %t, %t", waits.told, whole.told)
		}
		whole.leave()
		if err := <-got; err != nil {
			t.Error(err)
		}
		time.Sleep(stalledAfter - time.Second) // it has time to bring something
		if err := largeShare(m, nobody).grow(51); !errors.Is(err, errNoMemory) || !waits.told {
			t.Errorf("%v, told %t, long after it waited", err, waits.told)
		}
	})
}

// TestMoreThanAllMemory is not waited for.
func TestMoreThanAllMemory(t *testing.T) {
	s := largeShare(newMemory(100, 50), nobody)
	if err := errors.Join(s.grow(60), s.grow(40)); err != nil {
		t.Fatal(err)
	}
	if err := s.grow(1); !errors.Is(err, errOverMemory) {
		t.Error(err)
	}
}

// TestSomeAlwaysEnd: a hundred bodies, of which four have room, come again until
// they are through, over good lines and over bad ones. The memory is never exceeded,
// and all of it comes back.
func TestSomeAlwaysEnd(t *testing.T) {
	someAlwaysEnd(t, 100*time.Millisecond)
	someAlwaysEnd(t, time.Minute) // nobody brings a quarter in time
}

// someAlwaysEnd has senders that take as long for a step as pause, at most.
func someAlwaysEnd(t *testing.T, pause time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		const room, body, step, senders = 4 << 10, 1 << 10, 64, 100
		m := newMemory(room, body)
		var held, turnedAway, ended atomic.Int64
		send := func() error {
			woken := make(chan struct{})
			s := largeShare(m, func() { close(woken) })
			defer s.leave()
			mine := int64(0)
			defer func() { held.Add(-mine) }()
			for range body / step {
				if err := s.grow(step); err != nil {
					return err
				}
				mine += step
				if now := held.Add(step); now > room {
					t.Errorf("%d bytes are held", now)
				}
				select {
				case <-time.After(rand.N(pause)): // the sender is slow
					s.brought(step)
				case <-woken:
				}
			}
			s.done()
			time.Sleep(time.Second) // the journal is
			return nil
		}
		began := time.Now()
		var all sync.WaitGroup
		for range senders {
			all.Go(func() {
				for send() != nil {
					turnedAway.Add(1)
					if time.Since(began) > 24*time.Hour {
						return
					}
					time.Sleep(5 * time.Second)
				}
				ended.Add(1)
			})
		}
		all.Wait()
		if ended.Load() != senders || m.free != room || len(m.shares) != 0 {
			t.Errorf("%d have ended; %d bytes free, %d shares", ended.Load(), m.free, len(m.shares))
		}
		if turnedAway.Load() == 0 {
			t.Error("nobody was turned away, so nothing was tried")
		}
		t.Logf("with pauses of up to %v: turned away %d times in %v", pause, turnedAway.Load(), time.Since(began))
	})
}
