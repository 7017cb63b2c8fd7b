package sqlite

import (
	"context"
	"path/filepath"
	"testing"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/require"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// later queues a delivery in another goroutine. taken says each time that the writer has it.
func later(t *testing.T, j *Journal, d report.Delivery, fails error) (taken chan struct{}, result chan error) {
	taken, result = make(chan struct{}, 10), make(chan error, 1)
	r := &commit.Request{Sync: true, Size: len(d.Changes), Scope: commit.NewScope(d), Run: func(tx *commit.Transaction) error {
		taken <- struct{}{}
		if fails != nil {
			return fails
		}
		_, err := tx.Append(d, j.opt)
		return err
	}}
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

// TestPartsOfAGroupAreNotOvertaken: a delivery must not overtake a large one that names the same
// document, so it waits behind that. Then the rest of its group must not overtake it, either.
func TestPartsOfAGroupAreNotOvertaken(t *testing.T) {
	j := openIdle(t, filepath.Join(t.TempDir(), "journal.db"))
	var large report.Delivery
	for i := range commit.LargeRequest {
		large.Changes = append(large.Changes, journaltest.Put(string(rune(0x4e00+i)), "{}").Changes...)
	}
	named := string(large.Changes[0].ID)
	var results []chan error
	queue := func(d report.Delivery, fails error) {
		t.Helper()
		waiting := j.queue.Len()
		_, result := later(t, j, d, fails)
		journaltest.Eventually(t, "it is in the queue", func() bool { return j.queue.Len() > waiting })
		results = append(results, result)
	}
	serve := func(want int) {
		t.Helper()
		group, _ := j.queue.Take(nil)
		if len(group) != want {
			t.Fatalf("a group of %d requests, not %d", len(group), want)
		}
		j.serve(group)
		require.NoError(t, j.awaitFlush())
	}
	queue(large, nil)
	serve(1) // now come small ones
	queue(large, nil)
	both := journaltest.Put(named, "{}")
	both.Changes = append(both.Changes, journaltest.Put("2", `"older"`).Changes...)
	queue(both, nil)
	queue(report.Delivery{}, report.ErrNotFound)
	queue(journaltest.Put("2", `"newer"`), nil)
	serve(3)
	start(t, j)
	for i, result := range results {
		if err := within(t, "an answer", result); (err != nil) != (i == 3) {
			t.Errorf("request %d: %v", i, err)
		}
	}
	mustHave(t, j, "2", `"newer"`)
}
