package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/internal/testkit/require"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// TestLimit fills a journal up to its limit: pending changes drain, deletes are accepted,
// and once they have freed space, everything else is too.
func TestLimit(t *testing.T) {
	const limit = 8 << 20
	r := newQuotaRig(t, journal.Options{MaxBytes: limit})
	body := strings.Repeat("x", 100<<10)
	n := 0
	for ; n < 1000; n++ {
		if _, err := r.Append(t.Context(), journaltest.Put(fmt.Sprint(n), body)); errors.Is(err, report.ErrNoRoom) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if n < 70 || n > 85 {
		t.Errorf("%d documents of 100 KiB were accepted with a limit of 8 MiB", n)
	}
	r.noSpace(t, journaltest.Put("more", "{}"), "--journal-max-bytes", "8.000 MiB", r.path)
	r.noSpace(t, report.Delivery{Changes: append(journaltest.Delete("0").Changes, journaltest.Put("more", "{}").Changes...)})
	s, err := r.Stats(t.Context())
	if err != nil || s.Limit != limit || s.Used < limit-limit/commit.Slack || s.Used > limit+1<<20 {
		t.Errorf("stats %+v, %v; want it used up to the limit", s, err)
	}

	// A refused delivery is answered as usual, but its refusal is not kept.
	mustAppend(t, r.Journal, report.Delivery{Refusals: []report.Refusal{{Reason: "not_json", Body: []byte("x")}}})
	// Unless it is signed: it would leave a receipt.
	r.noSpace(t, report.Delivery{Receipt: &report.Receipt{Sender: "publisher", ID: "msg_1", Digest: []byte("x")}, Refusals: []report.Refusal{{Reason: "not_json", Body: []byte("x")}}})
	if again := r.drain(t); again != n {
		t.Errorf("%d drained, want %d", again, n)
	}
	if m, err := report.ResendAll(t.Context(), r, report.Advisories); err != nil || m != n {
		t.Errorf("%d to resend, %v", m, err)
	}
	r.drain(t)
	r.noSpace(t, journaltest.Put("more", "{}"))

	withRefusal := journaltest.Delete("0")
	withRefusal.Refusals = []report.Refusal{{Reason: "not_json", Body: []byte("x")}}
	mustAppend(t, r.Journal, withRefusal)
	mustAppend(t, r.Journal, journaltest.Delete("1"))
	mustAppend(t, r.Journal, journaltest.Delete("2"))
	journaltest.Eventually(t, "there is space", func() bool { return r.Ready() == nil }) // it is measured while the disk is writing
	mustAppend(t, r.Journal, journaltest.Put("more", "{}"))
	if s, err := r.Stats(t.Context()); err != nil || s.Refused != 0 || s.Used >= limit {
		t.Errorf("stats %+v, %v; want no refusal and less than the limit used", s, err)
	}
	if begun, ended := r.log.Count("for lack of room"), r.log.Count("has room again"); begun != 1 || ended != 1 {
		t.Errorf("%d messages say that a quota is exceeded and %d that there is room again", begun, ended)
	}
	checkTables(t, r.Journal)
}

// TestWALDoesNotProlongAnExceededQuota: the WAL takes the space that the file no longer needs.
func TestWALDoesNotProlongAnExceededQuota(t *testing.T) {
	r := newQuotaRig(t, journal.Options{MaxBytes: 1 << 40})
	mustAppend(t, r.Journal, journaltest.Put("1", strings.Repeat("x", 8<<20)))
	mustAppend(t, r.Journal, journaltest.Put("2", "{}")) // from here on the WAL keeps its size
	s, err := r.Stats(t.Context())
	require.NoError(t, err)
	for _, max := range []int64{1, s.Used + s.Used/commit.Slack/2} {
		require.NoError(t, r.queue.Do(t.Context(), &commit.Request{Task: task(func(*commit.Transaction) error { r.quota.max, r.testWriteEvery = max, time.Hour; return nil })}))
		require.NoError(t, r.queue.Do(t.Context(), &commit.Request{Sync: true}))
		journaltest.Eventually(t, "the space is measured", func() bool { return (r.Ready() == nil) == (max > 1) })
	}
}

// TestRetryWithoutSpace: a retry of a refusal ends that refusal, so it is not accepted
// while a new refusal of it could not be kept.
func TestRetryWithoutSpace(t *testing.T) {
	r := newQuotaRig(t, journal.Options{MaxBytes: 4 << 20})
	refusal := report.Refusal{Reason: "not_json", Kind: report.Advisories, Body: []byte("x")}
	mustAppend(t, r.Journal, report.Delivery{Refusals: []report.Refusal{refusal}})
	for n := 0; ; n++ {
		if _, err := r.Append(t.Context(), journaltest.Put(fmt.Sprint(n), strings.Repeat("x", 100<<10))); errors.Is(err, report.ErrNoRoom) {
			break
		} else if err != nil || n > 1000 {
			t.Fatal(n, err)
		}
	}
	kept, err := r.Refusals(t.Context(), 0, 10)
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	retry := journaltest.Delete("0")
	retry.RetryOf, retry.Refusals = kept[0].Seq, []report.Refusal{refusal}
	r.noSpace(t, retry)
	if again, err := r.Refusals(t.Context(), 0, 10); err != nil || len(again) != 1 || again[0].Seq != kept[0].Seq {
		t.Errorf("refusals %+v, %v; want only the first one", again, err)
	}
	r.drain(t)
	mustAppend(t, r.Journal, journaltest.Delete("0"))
}

// TestLimitIsExceededByOneAtMost sends many large deliveries at once, which would be
// committed together if there were space.
func TestLimitIsExceededByOneAtMost(t *testing.T) {
	const limit, size = 8 << 20, 1 << 20
	r := newQuotaRig(t, journal.Options{MaxBytes: limit})
	body := strings.Repeat("x", size)
	var taken atomic.Int64
	var wg sync.WaitGroup
	for n := range 40 {
		wg.Go(func() {
			_, err := r.Append(context.Background(), journaltest.Put(fmt.Sprint(n), body))
			if err == nil {
				taken.Add(1)
			} else if !errors.Is(err, report.ErrNoRoom) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := taken.Load(); n < limit/size-1 || n > limit/size+1 {
		t.Errorf("%d deliveries of 1 MiB were accepted with a limit of 8 MiB", n)
	}
	if s, err := r.Stats(t.Context()); err != nil || s.Used > limit+2*size+size/4 {
		t.Errorf("%d bytes used, %v; want the limit exceeded by one delivery at most", s.Used, err)
	}
}

// TestLowDisk: below the reserve of the disk not even deletes are accepted, but pending
// changes drain, and acceptance resumes by itself.
func TestLowDisk(t *testing.T) {
	r := newQuotaRig(t, journal.Options{MinFree: 100 << 20})
	mustAppend(t, r.Journal, journaltest.Put("1", "{}"))
	r.free.Store(99 << 20)
	mustAppend(t, r.Journal, journaltest.Put("2", "{}")) // it was measured a moment ago
	r.pass(measureEvery)
	if _, err := r.Append(t.Context(), journaltest.Put("3", "{}")); !errors.Is(err, report.ErrNoRoom) {
		t.Fatalf("error %v, want ErrNoRoom", err)
	}
	r.noSpace(t, journaltest.Put("3", "{}"), "--journal-min-free", "99 MiB", "100 MiB")
	r.noSpace(t, journaltest.Delete("1"))
	mustAppend(t, r.Journal, report.Delivery{Refusals: []report.Refusal{{Reason: "not_json"}}})
	if n := r.drain(t); n != 2 {
		t.Errorf("%d drained, want 2", n)
	}
	if s, err := r.Stats(t.Context()); err != nil || s.Free != 99<<20 || s.Refused != 0 {
		t.Errorf("stats %+v, %v; want 99 MiB free and no refusal", s, err)
	}
	r.free.Store(100<<20 + 1) // not enough to go on for long
	r.noSpace(t, journaltest.Put("3", "{}"))
	r.free.Store(110 << 20)
	waitReady(t, r.Journal)
	mustAppend(t, r.Journal, journaltest.Put("3", "{}"))
	if begun, ended := r.log.Count("for lack of room"), r.log.Count("has room again"); begun != 1 || ended != 1 {
		t.Errorf("%d messages say that a quota is exceeded and %d that there is room again", begun, ended)
	}
}

// TestDiskIsMeasuredRarely: measuring costs a delivery nothing, and what was written
// since the last measurement counts.
func TestDiskIsMeasuredRarely(t *testing.T) {
	r := newQuotaRig(t, journal.Options{MinFree: 100 << 20})
	mustAppend(t, r.Journal, journaltest.Put("1", "{}"))
	r.pass(measureEvery)
	mustAppend(t, r.Journal, journaltest.Put("1", "{}"))
	before := r.looks.Load()
	for range 100 {
		mustAppend(t, r.Journal, journaltest.Put("1", "{}"))
	}
	if n := r.looks.Load() - before; n != 0 {
		t.Errorf("the disk was measured %d times in one moment, want once at most", n)
	}
	r.free.Store(101 << 20)
	r.pass(measureEvery)
	mustAppend(t, r.Journal, journaltest.Put("1", "{}"))
	r.free.Store(99 << 20)
	mustAppend(t, r.Journal, journaltest.Put("1", strings.Repeat("x", 2<<20))) // more than was left above the reserve
	r.noSpace(t, journaltest.Put("1", "{}"))
}

// TestNoLimits checks the values that mean no limit, and a disk whose free space is
// unknown.
func TestNoLimits(t *testing.T) {
	r := newQuotaRig(t, journal.Options{MinFree: -1})
	r.free.Store(0)
	r.pass(time.Hour)
	mustAppend(t, r.Journal, journaltest.Put("1", "{}"))

	j := openIdle(t, filepath.Join(t.TempDir(), "journal.db"))
	if j.quota.min != journal.DefaultMinFree || j.quota.max != 0 {
		t.Errorf("the zero value means %d, %d", j.quota.min, j.quota.max)
	}
	j.quota.diskFree = func(string) (int64, error) { return 0, errors.New("no idea") }
	j.quota.measured = time.Time{}
	start(t, j)
	mustAppend(t, j, journaltest.Put("1", "{}"))
	if s, err := j.Stats(t.Context()); err != nil || s.Free != -1 {
		t.Errorf("stats %+v, %v; want the free space unknown (-1)", s, err)
	}
}
