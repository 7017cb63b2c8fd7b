package indexer

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"riskdex/elastic"
	"riskdex/report"
)

func failingForTest() *failing { return (&Indexer{cfg: DefaultConfig()}).newFailing() }

func change(id string) report.Change {
	return report.Change{Key: report.Key{Kind: report.Cities, ID: report.ID(id)}, Op: report.Index, Version: 1}
}

// TestBackedOffDocumentsLeaveBulksToOthers: documents that have waited longest are
// claimed first, so as many as fit into ten bulks must wait until more than ten bulks
// have been sent.
func TestBackedOffDocumentsLeaveBulksToOthers(t *testing.T) {
	t.Parallel()
	f := failingForTest()
	cfg := DefaultConfig()
	var few, many time.Duration
	for range 20 {
		few = f.wait(change("0").Key, 100, 0)
	}
	for i := range 1000 {
		for range 20 {
			many = f.wait(change(fmt.Sprint(i)).Key, 100, 0)
		}
		if many > longestWait*cfg.LongestBackoff {
			t.Fatalf("waits %v", many)
		}
	}
	if few > 2*cfg.LongestBackoff || many < 5*cfg.LongestBackoff {
		t.Errorf("waits %v where it is the only one, and %v where there are 1000", few, many)
	}
	const slow = 10 * time.Minute
	if wait := f.wait(change("0").Key, 100, slow); wait <= 10*slow {
		t.Errorf("waits %v, in which all of them can be sent once more: that takes %v", wait, 10*slow)
	}
}

func TestFailingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := failingForTest()
		for i := range maxFailing + 1000 {
			c := change(fmt.Sprint(i))
			f.wait(c.Key, 1000, 0)
			f.together([]report.Change{c, c})
			f.alone(c, true, 1, true)
		}
		if n := len(f.documents); n != maxFailing {
			t.Errorf("%d are remembered, want %d", n, maxFailing)
		}
		if wait := f.wait(change("beyond").Key, 1000, 0); wait != f.longest {
			t.Errorf("one beyond waits %v, want %v", wait, f.longest)
		}
		time.Sleep(forgetAfter + time.Second)
		f.wait(change("later").Key, 1000, 0)
		if n := len(f.documents); n != 1 {
			t.Errorf("%d are remembered after an hour, want 1", n)
		}
	})
}

// TestWhatFailsByItselfWaitsByItself, whether its lane waits as well or not. The changes
// that have waited longest are claimed first, and would otherwise delay others.
func TestWhatFailsByItselfWaitsByItself(t *testing.T) {
	t.Parallel()
	x := new(checking).indexer(t)
	for name, c := range map[string]struct {
		j           judgement
		laneHealthy bool
		waits       bool
	}{
		"alone in its bulk":                          {judgement{verdict: elastic.Retry, reason: elastic.ReasonUnavailable, alone: true}, false, true},
		"an item that fails":                         {judge(elastic.Answer{Level: elastic.LevelItem, Status: 503}), false, true},
		"together with others":                       {judge(elastic.Answer{Level: elastic.LevelRequest, Status: 503}), false, false},
		"while others were taken":                    {judge(elastic.Answer{Level: elastic.LevelRequest, Status: 503}), true, true},
		"an item that Elasticsearch has no room for": {judge(elastic.Answer{Level: elastic.LevelItem, Status: 429}), false, false},
	} {
		s := x.settlementFor(t.Context(), prepared{change: change(name)}, c.j, c.laneHealthy, 1, 0)
		if s.Outcome != report.Retry || s.NotBefore.IsZero() == c.waits {
			t.Errorf("%s: %s, not before %v", name, s.Outcome, s.NotBefore)
		}
	}
}

// TestNewerVersionStartsWithoutFailures, whatever Elasticsearch died of before.
func TestNewerVersionStartsWithoutFailures(t *testing.T) {
	t.Parallel()
	f := failingForTest()
	older, newer := change("1"), change("1")
	newer.Version++
	for died := generation(1); died <= blameAfter; died++ {
		f.alone(older, true, died, true)
		f.blame(older, died+1)
	}
	if deaths, _ := f.blame(older, 9); deaths != blameAfter {
		t.Fatalf("%d deaths", deaths)
	}
	f.alone(newer, true, 0, false)
	if deaths, suspect := f.blame(newer, 9); deaths > 0 || suspect {
		t.Errorf("%d deaths, suspect %v", deaths, suspect)
	}
	f.alone(newer, true, 9, true)
	if deaths, _ := f.blame(newer, 10); deaths != 1 {
		t.Errorf("%d deaths of its own, want 1", deaths)
	}
}
