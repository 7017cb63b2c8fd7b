package body

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"riskdex/report"
)

func nobody() {}

// largeReservation is a reservation that has used up its allowance.
func largeReservation(b *Budget, interrupt func()) *reservation {
	c := b.reserve(interrupt)
	c.allowance = 0
	return c
}

// TestMemoryOfTheOldestIsReserved from the others until it has ended. Then the next one is
// the oldest, and need not wait for any other.
func TestMemoryOfTheOldestIsReserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewBudget(100, 40)
		old, next, young := largeReservation(m, nobody), largeReservation(m, nobody), largeReservation(m, nobody)
		if err := errors.Join(old.grow(10), next.grow(30), young.grow(30)); err != nil {
			t.Fatal(err)
		}
		next.finish() // so that it does not stall
		began := time.Now()
		if err := young.grow(1); !errors.Is(err, ErrBusy) || time.Since(began) != budgetTimeout {
			t.Errorf("another reservation of the memory that is kept for the oldest returned %v after %v", err, time.Since(began))
		}
		if err := old.grow(30); err != nil || time.Since(began) != budgetTimeout {
			t.Errorf("the oldest reservation returned %v after %v, want the memory at once", err, time.Since(began))
		}
		got := make(chan error, 1)
		go func() { got <- next.grow(40) }()
		synctest.Wait()
		old.release()
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

// TestNobodyWaitsForWhoWaits: the oldest reservation may need more than is kept for it, such as for many
// small records. Whoever holds memory and waits for more gives it up at once.
func TestNobodyWaitsForWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewBudget(100, 20)
		old, young, late := largeReservation(m, nobody), largeReservation(m, nobody), largeReservation(m, nobody)
		if err := errors.Join(old.grow(40), young.grow(60)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		waits := func(c *reservation, bytes int64) <-chan error {
			got := make(chan error, 1)
			go func() {
				err := c.grow(bytes)
				if err != nil {
					c.release()
				}
				got <- err
			}()
			synctest.Wait()
			return got
		}
		second, first, third := waits(young, 10), waits(old, 50), waits(late, 20)
		if err := <-second; !errors.Is(err, ErrBusy) {
			t.Errorf("the younger one that waits: %v, want ErrBusy", err)
		}
		if err := <-first; err != nil || time.Since(began) != 0 {
			t.Errorf("the oldest: %v after %v, want the memory at once", err, time.Since(began))
		}
		old.release()
		if err := <-third; err != nil || time.Since(began) != 0 {
			t.Errorf("one that holds nothing: %v after %v, want the memory at once", err, time.Since(began))
		}
	})
}

// TestStalledBodyGivesWay to others that wait, except for the oldest. A reservation whose
// body brings a quarter in time keeps its memory.
func TestStalledBodyGivesWay(t *testing.T) {
	for what, c := range map[string]struct {
		brings  int64 // every four seconds
		evicted bool
	}{
		"nothing":        {0, true},
		"not a quarter":  {5, true},
		"a quarter":      {6, false},
		"more by and by": {100, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := NewBudget(100, 50)
			woken := make(chan struct{})
			old, young := largeReservation(m, nobody), largeReservation(m, func() { close(woken) })
			if err := errors.Join(old.grow(50), young.grow(25), largeReservation(m, nobody).grow(25)); err != nil {
				t.Fatal(err)
			}
			m.reservations[2].finish()
			go func() {
				for range 4 {
					time.Sleep(4 * time.Second)
					young.received(c.brings)
				}
			}()
			go func() {
				select {
				case <-woken:
					young.release()
				case <-time.After(time.Minute):
				}
			}()
			began := time.Now()
			err := largeReservation(m, nobody).grow(10)
			switch took := time.Since(began); {
			case c.evicted && (err != nil || took != stalledAfter):
				t.Errorf("%s: %v after %v", what, err, took)
			case !c.evicted && (!errors.Is(err, ErrBusy) || took != budgetTimeout):
				t.Errorf("%s: %v after %v", what, err, took)
			}
			if old.evicted || young.evicted != c.evicted || c.evicted && !errors.Is(young.grow(1), ErrBusy) {
				t.Errorf("%s: evicted: %t, %t", what, old.evicted, young.evicted)
			}
			time.Sleep(time.Minute) // the others end
		})
	}
}

// TestWaitingBodyHasNotStalled, because it waits for memory, or has brought
// everything.
func TestWaitingBodyHasNotStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewBudget(100, 50)
		old, waits, whole := largeReservation(m, nobody), largeReservation(m, nobody), largeReservation(m, nobody)
		if err := errors.Join(old.grow(50), waits.grow(10), whole.grow(40)); err != nil {
			t.Fatal(err)
		}
		whole.finish()
		got := make(chan error, 1)
		go func() { got <- waits.grow(10) }()
		go func() { _ = largeReservation(m, nobody).grow(10) }()
		time.Sleep(budgetTimeout - time.Second)
		if waits.evicted || whole.evicted {
			t.Errorf("evicted: %t, %t; want neither", waits.evicted, whole.evicted)
		}
		whole.release()
		if err := <-got; err != nil {
			t.Error(err)
		}
		time.Sleep(stalledAfter - time.Second) // it has time to send something
		if err := largeReservation(m, nobody).grow(51); !errors.Is(err, ErrBusy) || !waits.evicted {
			t.Errorf("another reservation returned %v, evicted: %t; want the one that sent nothing for long evicted", err, waits.evicted)
		}
	})
}

// TestMoreThanAllMemory is refused at once.
func TestMoreThanAllMemory(t *testing.T) {
	s := largeReservation(NewBudget(100, 50), nobody)
	if err := errors.Join(s.grow(60), s.grow(40)); err != nil {
		t.Fatal(err)
	}
	if err := s.grow(1); !errors.Is(err, ErrOverBudget) {
		t.Error(err)
	}
}

// TestBodiesAlwaysMakeProgress: a hundred bodies, with memory for four, are retried until they have
// been read, over good and bad connections. The memory is never exceeded, and all of it
// is given back.
func TestBodiesAlwaysMakeProgress(t *testing.T) {
	someAlwaysEnd(t, 100*time.Millisecond)
	someAlwaysEnd(t, time.Minute) // no sender sends a quarter in time
}

// someAlwaysEnd has senders that pause for at most pause before each step.
func someAlwaysEnd(t *testing.T, pause time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		const room, body, step, senders = 4 << 10, 1 << 10, 64, 100
		m := NewBudget(room, body)
		var held, turnedAway, ended atomic.Int64
		send := func() error {
			woken := make(chan struct{})
			s := largeReservation(m, func() { close(woken) })
			defer s.release()
			mine := int64(0)
			defer func() { held.Add(-mine) }()
			for range body / step {
				if err := s.grow(step); err != nil {
					return err
				}
				mine += step
				if now := held.Add(step); now > room {
					t.Errorf("%d bytes of memory are in use, more than the budget", now)
				}
				select {
				case <-time.After(rand.N(pause)): // the sender is slow
					s.received(step)
				case <-woken:
				}
			}
			s.finish()
			time.Sleep(time.Second) // the journal is slow
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
		if ended.Load() != senders || m.free != room || len(m.reservations) != 0 {
			t.Errorf("%d bodies have ended, %d bytes are free, %d reservations are left; want all", ended.Load(), m.free, len(m.reservations))
		}
		if turnedAway.Load() == 0 {
			t.Error("no body was refused, so this test shows nothing")
		}
		t.Logf("with pauses of up to %v: refused %d times in %v", pause, turnedAway.Load(), time.Since(began))
	})
}

// TestHoldersLeaveDeliveriesWhatTheyNeed: whoever shows bodies, however many and large and for however
// long, has no memory that is kept for the oldest request, and a small body takes none.
func TestHoldersLeaveDeliveriesWhatTheyNeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const kib = 1 << 10
		b := NewBudget(1000*kib, 400*kib)
		hold := func() context.Context {
			ctx, release := b.Hold(t.Context(), 10, time.Minute)
			t.Cleanup(release)
			return ctx
		}
		first, second, third := hold(), hold(), hold()
		if err := errors.Join(report.AwaitMemory(first, smallBody+1000*kib), report.TryMemory(second, smallBody)); err != nil {
			t.Fatal(err)
		}
		if free := b.free; free != 400*kib {
			t.Errorf("%d are free, want what is kept", free)
		}
		if err := report.TryMemory(second, smallBody+1); err == nil || err.Error() != report.ErrNoMemory.Error() {
			t.Errorf("without waiting: %v", err)
		}
		began := time.Now()
		if err := report.AwaitMemory(second, smallBody+1); !errors.Is(err, ErrBusy) || time.Since(began) != time.Minute {
			t.Errorf("while the others have it: %v after %v", err, time.Since(began))
		}
		request := largeReservation(b, nobody)
		began = time.Now()
		if err := request.grow(400 * kib); err != nil || time.Since(began) != 0 {
			t.Errorf("a request: %v after %v, want the memory at once", err, time.Since(began))
		}
		if err := Grow(first, 100*kib); err != nil { // of what it has already
			t.Error(err)
		}
		got := make(chan error, 1)
		go func() { got <- report.AwaitMemory(third, smallBody+50*kib) }()
		synctest.Wait()
		if err := report.AwaitMemory(first, smallBody+10*kib); err != nil {
			t.Error(err)
		}
		if err := <-got; err != nil {
			t.Errorf("once others have given it back: %v", err)
		}
		request.release()
		if free := b.free; free != 400*kib {
			t.Errorf("%d are free, want what is kept", free)
		}
	})
}
