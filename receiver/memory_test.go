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

// TestYoungestGivesWay: the one that came last ends, and the one before it goes on.
func TestYoungestGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(100)
		var woken atomic.Bool
		old, middle, young := m.enter(nobody), m.enter(nobody), m.enter(func() { woken.Store(true) })
		for _, s := range []*share{old, middle, young} {
			if err := s.grow(33); err != nil {
				t.Fatal(err)
			}
		}
		got := make(chan error, 1)
		go func() { got <- old.grow(30) }()
		synctest.Wait()
		if !woken.Load() || middle.told || !errors.Is(young.grow(1), errNoMemory) {
			t.Errorf("woken %t, the one in the middle told %t", woken.Load(), middle.told)
		}
		young.leave()
		if err := <-got; err != nil {
			t.Error(err)
		}
	})
}

// TestWhoHasStalledGivesWay to whoever waits, the youngest of them first. The oldest,
// up to half of the memory, and those who bring a quarter in time keep what they hold.
func TestWhoHasStalledGivesWay(t *testing.T) {
	for what, c := range map[string]struct {
		brings int64 // by each of them, every four seconds
		told   bool
	}{
		"nothing":        {0, true},
		"not a quarter":  {5, true},
		"a quarter":      {6, false},
		"more by and by": {100, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory(100)
			old, middle, young := m.enter(nobody), m.enter(nobody), m.enter(nobody)
			if err := errors.Join(old.grow(50), middle.grow(25), young.grow(25)); err != nil {
				t.Fatal(err)
			}
			go func() {
				for range 4 {
					time.Sleep(4 * time.Second)
					middle.brought(c.brings)
					young.brought(c.brings)
				}
			}()
			go func() {
				select {
				case <-young.giveWay:
					young.leave()
				case <-time.After(time.Minute):
				}
			}()
			began := time.Now()
			err := m.enter(nobody).grow(10)
			switch took := time.Since(began); {
			case c.told && (err != nil || took != stalledAfter):
				t.Errorf("%s: %v after %v", what, err, took)
			case !c.told && (!errors.Is(err, errNoMemory) || took != memoryPatience):
				t.Errorf("%s: %v after %v", what, err, took)
			}
			if old.told || middle.told || young.told != c.told {
				t.Errorf("%s: told: %t, %t, %t", what, old.told, middle.told, young.told)
			}
			time.Sleep(time.Minute) // those beside it end
		})
	}
}

// TestOldestHalfIsSpared, though others wait for all of it and it brings nothing.
func TestOldestHalfIsSpared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(100)
		old := m.enter(nobody)
		if err := old.grow(50); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := m.enter(nobody).grow(60); !errors.Is(err, errNoMemory) || old.told {
			t.Errorf("%v, told %t", err, old.told)
		}
	})
}

// TestWhoWaitsHasNotStalled: while there is no room for more, nothing more is read.
func TestWhoWaitsHasNotStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(100)
		whole, old := m.enter(nobody), m.enter(nobody)
		if err := errors.Join(whole.grow(60), old.grow(40)); err != nil {
			t.Fatal(err)
		}
		whole.done()
		got := make(chan error, 1)
		go func() { got <- old.grow(10) }()
		synctest.Wait()
		go func() { _ = m.enter(nobody).grow(10) }()
		time.Sleep(memoryPatience - time.Second)
		whole.leave()
		if err := <-got; err != nil || old.told {
			t.Errorf("%v, told %t", err, old.told)
		}
		time.Sleep(stalledAfter - time.Second) // it has time to bring something
		if err := m.enter(nobody).grow(30); err != nil || old.told {
			t.Errorf("%v, told %t", err, old.told)
		}
	})
}

// TestNobodyGivesWayInVain: what is not enough for an older one is not taken.
func TestNobodyGivesWayInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(100)
		whole, old, young := m.enter(nobody), m.enter(nobody), m.enter(nobody)
		if err := errors.Join(whole.grow(60), old.grow(20), young.grow(20)); err != nil {
			t.Fatal(err)
		}
		whole.done()
		go func() {
			for range 4 {
				time.Sleep(stalledAfter - time.Second)
				young.brought(20)
			}
		}()
		if err := old.grow(21); !errors.Is(err, errNoMemory) || young.told {
			t.Errorf("%v, told %t", err, young.told)
		}
		if err := old.grow(20); !errors.Is(err, errNoMemory) || !young.told {
			t.Errorf("%v, told %t", err, young.told)
		}
	})
}

// TestOldOnesAndWholeOnesAreWaitedFor, for a while.
func TestOldOnesAndWholeOnesAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(100)
		old, young, whole := m.enter(nobody), m.enter(nobody), m.enter(nobody)
		if err := errors.Join(old.grow(50), whole.grow(50)); err != nil {
			t.Fatal(err)
		}
		whole.done()
		began := time.Now()
		if err := young.grow(1); !errors.Is(err, errNoMemory) || time.Since(began) != memoryPatience || old.told || whole.told {
			t.Errorf("%v after %v; told: %t, %t", err, time.Since(began), old.told, whole.told)
		}
		time.AfterFunc(memoryPatience/2, whole.leave)
		if err := young.grow(1); err != nil || time.Since(began) != memoryPatience*3/2 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
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
		m := newMemory(room)
		var held, turnedAway, ended atomic.Int64
		send := func() error {
			woken := make(chan struct{})
			s := m.enter(func() { close(woken) })
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
		if ended.Load() != senders || m.free != room || len(m.shares) != 0 || m.leaving != 0 || m.wanted != 0 {
			t.Errorf("%d have ended; %d bytes free, %d leaving, %d wanted, %d shares", ended.Load(), m.free, m.leaving, m.wanted, len(m.shares))
		}
		if turnedAway.Load() == 0 {
			t.Error("nobody was turned away, so nothing was tried")
		}
		t.Logf("with pauses of up to %v: turned away %d times in %v", pause, turnedAway.Load(), time.Since(began))
	})
}
