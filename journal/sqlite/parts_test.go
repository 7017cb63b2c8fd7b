package sqlite

import (
	"context"
	"testing"

	"riskdex/internal/testkit/journaltest"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// later queues a delivery in another goroutine. taken says each time that the writer has it.
func later(t *testing.T, j *Journal, d report.Delivery, fails error) (taken chan struct{}, result chan error) {
	taken, result = make(chan struct{}, 10), make(chan error, 1)
	r := &commit.Request{Kind: report.Advisories, Sync: true, Size: len(d.Changes), Versions: 1, Task: task(func(tx *commit.Transaction) error {
		taken <- struct{}{}
		if fails != nil {
			return fails
		}
		_, err := tx.Deliver(d, j.opt)
		return err
	})}
	go func() { result <- j.queue.Do(context.WithoutCancel(t.Context()), r) }()
	return taken, result
}

// mustHave checks which delivery the newest record of an advisory is from.
func mustHave(t *testing.T, j *Journal, id report.ID, body string) {
	t.Helper()
	if d, err := j.Document(t.Context(), report.Advisories, id); err != nil || string(d.Body) != body {
		t.Errorf("%s: %s, %v; want %s", id, d.Body, err, body)
	}
}

// TestPartsOfAGroupKeepTheirOrder: after a group has failed, its requests are carried out one by
// one. Those that have come since wait for all of them, though the disk is still busy, which is
// otherwise the time to join.
func TestPartsOfAGroupKeepTheirOrder(t *testing.T) {
	j, syncs := slowDisk(t)
	before := appendLater(t, j, journaltest.Put("0", "{}"))
	disk := within(t, "a sync", syncs)
	first, firstResult := later(t, j, journaltest.Put("1", "{}"), nil)
	within(t, "the first of the group", first)
	older, olderResult := later(t, j, journaltest.Put("2", `"older"`), nil)
	within(t, "the second of the group", older)
	fails, failsResult := later(t, j, report.Delivery{}, report.ErrNotFound)
	within(t, "the one that fails", fails)
	within(t, "the first of the group, alone", first)
	newer, newerResult := later(t, j, journaltest.Put("2", `"newer"`), nil)
	journaltest.Eventually(t, "the newer one has come", func() bool { return j.queue.Len() == 1 || len(newer) > 0 })
	disk <- nil
	for _, result := range []chan error{before, firstResult, olderResult, failsResult, newerResult} {
		for waits := true; waits; {
			select {
			case disk := <-syncs:
				disk <- nil
			case err := <-result:
				if (err != nil) != (result == failsResult) {
					t.Error(err)
				}
				waits = false
			}
		}
	}
	mustHave(t, j, "2", `"newer"`)
}
