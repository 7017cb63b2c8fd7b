package sqlite

import (
	"math"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/testkit/journaltest"
	"riskdex/journal"
	"riskdex/journal/internal/commit"
	"riskdex/report"
)

// TestClaimSeesWhatIsCommittedMeanwhile does the steps of Claim one by one, and lets the
// writer in between reading and deciding.
func TestClaimSeesWhatIsCommittedMeanwhile(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	mustAppend(t, j, journaltest.Put("overtaken", "old"))
	mustAppend(t, j, journaltest.Put("settled", "old"))
	mustAppend(t, j, journaltest.Put("untouched", "old"))
	c := j.claims
	c.reading.Lock()
	defer c.reading.Unlock()
	c.begin(report.Advisories)
	defer c.end(report.Advisories, false)
	keys, err := j.e.candidates(report.Advisories, 10, j.claims.order.Next(report.Advisories), func(report.Key) bool { return true })
	if err != nil || len(keys) != 3 {
		t.Fatalf("candidates %v, %v", keys, err)
	}
	var documents []document
	for _, k := range keys {
		d, err := j.e.read(k, math.MaxInt64)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, d)
	}

	mustAppend(t, j, journaltest.Put("overtaken", "new"))
	s := report.Settlement{Key: keys[1], Version: documents[1].Version, Outcome: report.Indexed}
	if err := j.Settle(t.Context(), []report.Settlement{s}); err != nil {
		t.Fatal(err)
	}

	c.commit.Lock()
	defer c.commit.Unlock()
	taken, err := j.decide(j.e, documents, commit.NewBudget(100))
	if err != nil || len(taken.Changes) != 2 || len(taken.Damaged) != 0 {
		t.Fatalf("decided %+v, %v; want two changes", taken, err)
	}
	if got := taken.Changes[0]; string(got.Body) != "new" {
		t.Errorf("given out: %s, although a newer version is known", got.Body)
	}
	if got := taken.Changes[1]; got.ID != "untouched" || !taken.Missed {
		t.Errorf("given out: %s, missed %t", got.ID, taken.Missed)
	}
}

// TestCommitIsNotedUnderItsLock uses the clock, which is read while a commit is noted, to
// check whether a Claim could decide at that moment.
func TestCommitIsNotedUnderItsLock(t *testing.T) {
	var watched atomic.Pointer[Journal]
	var asked, free atomic.Int64
	opt := journal.Options{Now: func() time.Time {
		j := watched.Load()
		if j == nil {
			return time.Now()
		}
		if j.claims.mu.TryLock() { // it is not noting
			j.claims.mu.Unlock()
			return time.Now()
		}
		asked.Add(1)
		if j.claims.commit.TryLock() {
			j.claims.commit.Unlock()
			free.Add(1)
		}
		return time.Now()
	}}
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"), opt)
	mustAppend(t, j, journaltest.Put("1", "{}"))
	changes, err := j.Claim(t.Context(), report.Advisories, 1, 1)
	if err != nil || len(changes) != 1 {
		t.Fatalf("claimed %v, %v", changes, err)
	}
	watched.Store(j)
	s := report.Settlement{Key: changes[0].Key, Version: changes[0].Version, Outcome: report.Retry}
	if err := j.Settle(t.Context(), []report.Settlement{s}); err != nil {
		t.Fatal(err)
	}
	if asked.Load() == 0 || free.Load() != 0 {
		t.Errorf("%d of %d times a Claim could have decided", free.Load(), asked.Load())
	}
}

// TestNothingIsMissedDuringAnEmptyClaim: a delivery comes between the moment at which a
// Claim has found nothing and the moment at which it records that.
func TestNothingIsMissedDuringAnEmptyClaim(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	c := j.claims
	c.reading.Lock()
	c.begin(report.Advisories)
	mustAppend(t, j, journaltest.Put("1", "{}"))
	c.end(report.Advisories, true)
	c.reading.Unlock()
	if changes, err := j.Claim(t.Context(), report.Advisories, 1, 1); err != nil || len(changes) != 1 {
		t.Errorf("claimed %v, %v", changes, err)
	}
	if changes, err := j.Claim(t.Context(), report.Cities, 1, 1); err != nil || len(changes) != 0 || !c.idle.IsIdle(report.Cities) {
		t.Errorf("claimed %v, %v; recorded as empty: %t", changes, err, c.idle.IsIdle(report.Cities))
	}
	mustAppend(t, j, journaltest.Put("2", "{}"))
	if !c.idle.IsIdle(report.Cities) || c.idle.IsIdle(report.Advisories) {
		t.Error("a delivery must invalidate the empty claims of its own kind, and of no other")
	}
}

// TestHotDocumentWakesNobody: a document is delivered repeatedly while it is on its way,
// and while it is deferred. A Claim for each delivery would find nothing.
func TestHotDocumentWakesNobody(t *testing.T) {
	now := time.Now()
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"), journal.Options{Now: func() time.Time { return now }})
	mustAppend(t, j, journaltest.Put("hot", "0"))
	claim := func() []report.Change {
		t.Helper()
		got, err := j.Claim(t.Context(), report.Advisories, 10, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	onWay := claim()[0]
	again := func(when string) {
		t.Helper()
		if got := claim(); len(got) != 0 {
			t.Fatalf("%s: %d given out, want none", when, len(got))
		}
		select {
		case <-j.Changed():
		default:
		}
		mustAppend(t, j, journaltest.Put("hot", when))
		if !j.claims.idle.IsIdle(report.Advisories) {
			t.Errorf("%s: a delivery makes the next Claim search the journal", when)
		}
		select {
		case <-j.Changed():
			t.Errorf("%s: a delivery wakes the indexer", when)
		default:
		}
	}
	again("on its way")
	s := report.Settlement{Key: onWay.Key, Version: onWay.Version, Outcome: report.Indexed, NotBefore: now.Add(time.Hour)}
	if err := j.Settle(t.Context(), []report.Settlement{s}); err != nil {
		t.Fatal(err)
	}
	again("deferred")
	mustAppend(t, j, journaltest.Put("cold", "0"))
	if got := claim(); len(got) != 1 || got[0].ID != "cold" {
		t.Errorf("%d given out, want only the other document", len(got))
	}
}
