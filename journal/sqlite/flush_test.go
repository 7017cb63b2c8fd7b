package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// slowDisk opens a journal whose disk answers when the test lets it. prepare runs before
// anything is written.
func slowDisk(t *testing.T, prepare ...func(*Journal)) (j *Journal, syncs chan chan error) {
	t.Helper()
	j = openIdle(t, filepath.Join(t.TempDir(), "journal.db"))
	for _, p := range prepare {
		p(j)
	}
	j.testWriteEvery, j.idleAfter = time.Millisecond, time.Hour
	syncs = make(chan chan error)
	ended := make(chan struct{})
	j.e.sync = func() error {
		answer := make(chan error, 1)
		select {
		case syncs <- answer:
		case <-ended:
		}
		select {
		case err := <-answer:
			return err
		case <-ended:
			return nil
		}
	}
	start(t, j)
	t.Cleanup(func() { close(ended) })
	return j, syncs
}

// within returns what a channel delivers in good time.
func within[T any](t *testing.T, what string, c chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: not within 20 seconds", what)
	}
	return v
}

// appendLater appends a delivery in another goroutine.
func appendLater(t *testing.T, j *Journal, d report.Delivery) (result chan error) {
	result = make(chan error, 1)
	go func() {
		_, err := j.Append(context.WithoutCancel(t.Context()), d)
		result <- err
	}()
	return result
}

// fillLater makes the writer fill a transaction with a delivery, in another goroutine. It
// closes filled when that is done.
func fillLater(t *testing.T, j *Journal, d report.Delivery) (filled chan struct{}, result chan error) {
	filled, result = make(chan struct{}), make(chan error, 1)
	once := sync.OnceFunc(func() { close(filled) })
	go func() {
		result <- j.queue.Do(context.WithoutCancel(t.Context()), &commit.Request{Sync: true, Task: task(func(tx *commit.Transaction) error {
			defer once()
			_, err := tx.Deliver(d, j.opt)
			return err
		})})
	}()
	return filled, result
}

// TestNothingCountsBeforeItIsDurable: while the disk is writing a committed change, the
// change is neither acknowledged nor given out.
func TestNothingCountsBeforeItIsDurable(t *testing.T) {
	j, syncs := slowDisk(t)
	appended := appendLater(t, j, journaltest.Put("1", "{}"))
	disk := within(t, "a sync", syncs)
	var durable atomic.Bool
	claimed := make(chan error, 1)
	go func() {
		changes, err := j.Claim(context.WithoutCancel(t.Context()), report.Advisories, 10, 1<<20)
		switch {
		case err == nil && !durable.Load():
			err = errors.New("it was given out before it was durable")
		case err == nil && len(changes) != 1:
			err = errors.New("nothing was given out")
		}
		claimed <- err
	}()
	select {
	case err := <-appended:
		t.Fatalf("the delivery was answered before it was durable: %v", err)
	case err := <-claimed:
		t.Fatal(err)
	case <-time.After(50 * time.Millisecond): // there was time for it
	}
	if noted := j.watermark.read(); noted != 0 {
		t.Errorf("version %d is recorded as acknowledged", noted)
	}
	durable.Store(true)
	disk <- nil
	for what, result := range map[string]chan error{"Append": appended, "Claim": claimed} {
		if err := within(t, "the answer", result); err != nil {
			t.Errorf("%s returned %v after the sync, want success", what, err)
		}
	}
}

// TestWriterContinuesDuringASync: while the disk is writing the last transaction, the next
// one is filled, and not committed.
func TestWriterContinuesDuringASync(t *testing.T) {
	j, syncs := slowDisk(t)
	one := appendLater(t, j, journaltest.Put("1", "{}"))
	disk := within(t, "a sync", syncs)
	filled, two := fillLater(t, j, journaltest.Put("2", "{}"))
	within(t, "the next transaction", filled)
	if s, err := j.Stats(t.Context()); err != nil || s.Kinds[report.Advisories].Pending != 1 {
		t.Errorf("stats: %+v, %v", s, err)
	}
	disk <- nil
	if err := within(t, "the first answer", one); err != nil {
		t.Error(err)
	}
	disk = within(t, "a sync", syncs)
	select {
	case err := <-two:
		t.Fatalf("the second was answered before it was durable: %v", err)
	default:
	}
	disk <- nil
	if err := within(t, "the second answer", two); err != nil {
		t.Error(err)
	}
	checkTables(t, j)
}

// TestGroupGrowsDuringASync: everything that comes while the disk is writing one
// group is committed together, with one sync. A request that cannot be executed fails
// alone.
func TestGroupGrowsDuringASync(t *testing.T) {
	for name, bad := range map[string]bool{"all good": false, "a bad one among them": true} {
		t.Run(name, func(t *testing.T) {
			j, syncs := slowDisk(t, func(j *Journal) {
				execRaw(t, j.path, `CREATE TRIGGER refuse BEFORE INSERT ON documents WHEN NEW.id = 'bad'
					BEGIN SELECT RAISE(ABORT, 'refused'); END`)
			})
			one := appendLater(t, j, journaltest.Put("1", "{}"))
			disk := within(t, "a sync", syncs)
			filled, two := fillLater(t, j, journaltest.Put("2", "{}"))
			within(t, "the next transaction", filled)
			filled, three := fillLater(t, j, journaltest.Put("3", "{}"))
			within(t, "one that joins", filled)
			results := []chan error{one, two, three}
			if bad {
				filled, result := fillLater(t, j, journaltest.Put("bad", "{}"))
				within(t, "one that cannot be carried out", filled)
				go func() { // each in a transaction of its own now
					for range results[1:] {
						<-syncs <- nil
					}
				}()
				defer func() {
					if err := within(t, "the answer to the bad one", result); err == nil {
						t.Error("the invalid delivery was accepted")
					}
				}()
			}
			disk <- nil
			if !bad {
				within(t, "the one sync of two", syncs) <- nil
			}
			for i, result := range results {
				if err := within(t, "an answer", result); err != nil {
					t.Errorf("delivery %d: %v", i+1, err)
				}
			}
			checkTables(t, j)
		})
	}
}

// TestNobodyJoinsWhereSpaceIsShort: every group is measured before it is written, so that
// the limit is exceeded by one delivery at most.
func TestNobodyJoinsWhereSpaceIsShort(t *testing.T) {
	j, syncs := slowDisk(t, func(j *Journal) { j.quota.max = 1 << 20 })
	results := []chan error{appendLater(t, j, journaltest.Put("1", "{}"))}
	disk := within(t, "a sync", syncs)
	for _, id := range []string{"2", "3"} {
		filled, result := fillLater(t, j, journaltest.Put(id, "{}"))
		results = append(results, result)
		if id == "2" {
			within(t, "the next transaction", filled)
			continue
		}
		select {
		case <-filled:
			t.Error("the delivery joined the group although space is short")
		case <-time.After(50 * time.Millisecond): // there was time for it
		}
	}
	for i, result := range results {
		disk <- nil
		if err := within(t, "an answer", result); err != nil {
			t.Errorf("delivery %d: %v", i+1, err)
		}
		if i < len(results)-1 {
			disk = within(t, "a sync", syncs)
		}
	}
}

// TestFlushFails: the disk fails after a commit, while nothing else is going on, or while
// the next transaction is being filled and joined. What was committed is not
// acknowledged, and not given out until it is durable after all, and the journal recovers
// by itself.
func TestFlushFails(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for name, withNext := range map[string]bool{"alone": false, "with another that waits": true} {
		t.Run(name, func(t *testing.T) {
			j, syncs := slowDisk(t)
			before := j.e
			results := []chan error{appendLater(t, j, journaltest.Put("1", "{}"))}
			disk := within(t, "a sync", syncs)
			if withNext {
				for _, what := range []string{"the next transaction", "one that joins it"} {
					filled, next := fillLater(t, j, journaltest.Put("2", "{}"))
					results = append(results, next)
					within(t, what, filled)
				}
			}
			disk <- broken
			for i, result := range results {
				if err := within(t, "the answer", result); !errors.Is(err, broken) {
					t.Errorf("delivery %d: %v", i+1, err)
				}
			}
			waitReady(t, j)
			if j.e == before {
				t.Error("the database was not opened again")
			}
			changes, err := j.Claim(t.Context(), report.Advisories, 10, 1<<20)
			if err != nil || len(changes) != 1 || changes[0].ID != "1" {
				t.Errorf("claimed %v, %v; want the one that was committed", changes, err)
			}
			mustAppend(t, j, journaltest.Put("2", "{}"))
			checkTables(t, j)
		})
	}
}

// TestNothingIsGivenOutAfterAFlushHasFailed claims before the file is replaced.
func TestNothingIsGivenOutAfterAFlushHasFailed(t *testing.T) {
	broken := errors.New("the disk is on fire")
	j, syncs := slowDisk(t)
	j.testWriteEvery = time.Hour
	result := appendLater(t, j, journaltest.Put("1", "{}"))
	disk := within(t, "a sync", syncs)
	disk <- broken
	if err := within(t, "the answer", result); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if changes, err := j.Claim(t.Context(), report.Advisories, 10, 1<<20); !errors.Is(err, broken) {
		t.Errorf("claimed %v, %v; want the failure of the flush", changes, err)
	}
	if err := j.Ready(); !errors.Is(err, broken) {
		t.Errorf("Ready returned %v, want the failure of the flush", err)
	}
}
