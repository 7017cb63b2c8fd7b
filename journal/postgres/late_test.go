package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

func TestStallDetectorNoticesAStop(t *testing.T) {
	p := newStallDetector()
	for at := time.Duration(0); at < 10*time.Second; at += stallCheckEvery {
		p.tick(at)
		if p.stopped(at + stallCheckEvery) {
			t.Fatalf("reported as stopped at %v", at)
		}
	}
	end := 10 * time.Second
	if late := end + stoppedFor + time.Second; !p.stopped(late) {
		t.Error("a stop is not noticed before the next tick")
	}
	again := end + time.Minute
	p.tick(again)
	if !p.stopped(again+readWithin-1) || p.stopped(again+readWithin) {
		t.Error("after a stop, waiting requests do not get the time to be read")
	}
}

// TestLateDeliveriesAreNotTaken, neither from a process that was stopped, nor from a
// sender who has left, even while the transaction is under way.
func TestLateDeliveriesAreNotTaken(t *testing.T) {
	j := openPostgresTest(t)
	deliver := func(ctx context.Context) error {
		_, err := j.Append(ctx, journaltest.Put("1", "{}"))
		return err
	}
	far := time.Since(j.stalls.start) + time.Hour
	j.stalls.until.Store(int64(far))
	if err := deliver(t.Context()); !errors.Is(err, errLate) {
		t.Errorf("Append after a stop returned %v, want errLate", err)
	}
	if err := j.Settle(t.Context(), []report.Settlement{{Key: journaltest.Put("1", "{}").Changes[0].Key, Version: 1, Outcome: report.Indexed}}); err != nil {
		t.Errorf("Settle after a stop: %v", err)
	}
	j.stalls.until.Store(0)

	ctx, leave := context.WithCancel(t.Context())
	var gone atomic.Bool
	r := &commit.Request{Ctx: ctx, Done: make(chan error, 1), Versions: 1, Task: task(func(tx *commit.Transaction) error {
		leave()
		_, err := tx.Deliver(journaltest.Put("1", "{}"), j.opt)
		return err
	})}
	hungUp := &commit.Request{Ctx: t.Context(), Gone: gone.Load, Done: make(chan error, 1), Versions: 1, Task: task(func(tx *commit.Transaction) error {
		gone.Store(true)
		_, err := tx.Deliver(journaltest.Put("3", "{}"), j.opt)
		return err
	})}
	stays := make(chan error, 1)
	j.execute([]*commit.Request{r, hungUp, {Ctx: t.Context(), Done: stays, Versions: 1, Task: task(func(tx *commit.Transaction) error {
		_, err := tx.Deliver(journaltest.Put("2", "{}"), j.opt)
		return err
	})}})
	if err := <-r.Done; !errors.Is(err, context.Canceled) {
		t.Errorf("the sender who left is told %v, want the context's error", err)
	}
	if err := <-hungUp.Done; !errors.Is(err, report.ErrGone) {
		t.Errorf("the sender who hung up is told %v, want ErrGone", err)
	}
	if err := <-stays; err != nil {
		t.Errorf("the sender who stayed is told %v, want success", err)
	}
	entries, err := j.Entries(t.Context(), report.Advisories, "", 10)
	if err != nil || len(entries) != 1 || entries[0].ID != "2" {
		t.Errorf("the journal has %v, %v; want only document 2", entries, err)
	}
}
