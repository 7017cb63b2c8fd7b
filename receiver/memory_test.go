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
// they are through. The memory is never exceeded, and all of it comes back.
func TestSomeAlwaysEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const room, body, step, senders = 4 << 10, 1 << 10, 64, 100
		m := newMemory(room)
		var held, turnedAway, ended atomic.Int64
		send := func() error {
			s := m.enter(nobody)
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
				time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond) // the sender is slow
			}
			s.done()
			time.Sleep(time.Second) // the journal is
			return nil
		}
		var all sync.WaitGroup
		for range senders {
			all.Go(func() {
				for send() != nil {
					turnedAway.Add(1)
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
	})
}
