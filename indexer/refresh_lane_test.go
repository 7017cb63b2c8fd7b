package indexer

import (
	"errors"
	"math"
	"testing"
	"time"
)

// written makes a task of the lane write something and find that nothing more waits.
func (l *lane) written(now time.Time, cfg Config) {
	l.wake()
	t, _ := l.next(now, 2, cfg)
	l.begin(t)
	l.claimed(t, claimed{asked: true, n: 0})
	l.end(t, outcome{sent: true, shown: true}, now, cfg)
}

func TestIndexIsRefreshedWhenNothingMoreWaits(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	if _, ok := l.refreshes(cfg); ok {
		t.Error("a refresh though nothing was written")
	}
	l.wake()
	first, _ := l.next(now, 2, cfg)
	l.begin(first)
	l.claimed(first, claimed{asked: true, n: 5})
	second, _ := l.next(now, 2, cfg)
	l.begin(second)
	l.claimed(second, claimed{asked: true, n: 5})
	l.end(first, outcome{sent: true, shown: true}, now, cfg)
	if _, ok := l.refreshes(cfg); ok {
		t.Error("a refresh in the midst of a backlog")
	}
	third, _ := l.next(now, 2, cfg)
	l.begin(third)
	l.claimed(third, claimed{asked: true, n: 0})
	l.end(third, outcome{}, now, cfg)
	if _, ok := l.refreshes(cfg); ok {
		t.Error("a refresh while another bulk is under way")
	}
	l.end(second, outcome{sent: true, shown: true}, now, cfg)
	if at, ok := l.refreshes(cfg); !ok || at.After(now) {
		t.Errorf("with everything written, it is refreshed at %v, %v", at, ok)
	}
	l.wake()
	if _, ok := l.refreshes(cfg); ok {
		t.Error("a refresh while something may wait")
	}
}

// TestFillingANewIndexDelaysNoRefresh has a live change written while a new index is being
// filled: nobody searches that one, so the refresh does not wait for it.
func TestFillingANewIndexDelaysNoRefresh(t *testing.T) {
	t.Parallel()
	l, now, cfg := fillingLane(t)
	l.wake()
	live, _ := l.next(now, 2, cfg)
	l.begin(live)
	l.claimed(live, claimed{asked: true, n: 1})
	filling, _ := l.next(now, 2, cfg)
	l.begin(filling)
	l.claimed(filling, claimed{asked: true, n: 200, newIndexOnly: true})
	if _, ok := l.refreshes(cfg); ok {
		t.Error("a refresh before anything was written")
	}
	l.aliasWritten()
	if at, ok := l.refreshes(cfg); !ok || at.After(now) {
		t.Errorf("beside the filling, what was written is shown at %v, %v", at, ok)
	}
	l.end(live, outcome{sent: true, newIndexOnly: true}, now, cfg)
	another, _ := l.next(now, 2, cfg)
	l.begin(another)
	if _, ok := l.refreshes(cfg); ok {
		t.Error("a refresh while it is not known whether more is to be searched")
	}
	l.claimed(another, claimed{asked: true, n: 200, newIndexOnly: true})
	l.end(filling, outcome{sent: true, newIndexOnly: true}, now, cfg)
	if _, ok := l.refreshes(cfg); !ok {
		t.Error("no refresh though only the filling goes on")
	}
	l.wake()
	if _, ok := l.refreshes(cfg); ok {
		t.Error("a refresh while something live may wait")
	}
}

// TestBacklogAfterARebuildIsNotRefreshedInPieces gives a rebuild up while documents wait that were
// to be sent to the new index: from then on they go to the one that apps search.
func TestBacklogAfterARebuildIsNotRefreshedInPieces(t *testing.T) {
	t.Parallel()
	l, now, cfg := fillingLane(t)
	l.wake()
	filling, _ := l.next(now, 2, cfg)
	l.begin(filling)
	l.claimed(filling, claimed{asked: true, n: 200, newIndexOnly: true})
	if err := l.stopRebuild(now); err != nil {
		t.Fatal(err)
	}
	l.end(filling, outcome{sent: true, newIndexOnly: true}, now, cfg)
	l.removals = nil
	left, _ := l.next(now, 2, cfg)
	l.begin(left)
	l.claimed(left, claimed{asked: true, n: 200})
	l.end(left, outcome{sent: true, shown: true}, now, cfg)
	if _, ok := l.refreshes(cfg); ok {
		t.Error("a refresh in the midst of a backlog")
	}
	last, _ := l.next(now, 2, cfg)
	l.begin(last)
	l.claimed(last, claimed{asked: true})
	l.end(last, outcome{}, now, cfg)
	if _, ok := l.refreshes(cfg); !ok {
		t.Error("no refresh though nothing more waits")
	}
}

func TestOnlyWhatSearchesLackIsRefreshed(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	for name, out := range map[string]outcome{
		"nothing was sent":       {},
		"nothing was taken":      {sent: true},
		"a new index was filled": {sent: true, filling: filling{progress: true}},
		"the index was checked":  {checked: true, index: "x"},
	} {
		l.wake()
		task, _ := l.next(now, 2, cfg)
		l.begin(task)
		l.claimed(task, claimed{asked: true, n: 0})
		l.end(task, out, now, cfg)
		if _, ok := l.refreshes(cfg); ok {
			t.Errorf("%s: a refresh", name)
		}
	}
}

func TestNothingIsRefreshedTwice(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	l.written(now, cfg)
	l.beginRefresh()
	l.endRefresh(refreshed{lane: l, took: time.Millisecond}, now, cfg)
	if _, ok := l.refreshes(cfg); ok {
		t.Error("a second refresh though nothing was written since the first began")
	}
}

func TestRefreshesRest(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	cfg.RefreshShare = 0.2
	l.written(now, cfg)
	l.beginRefresh()
	l.written(now, cfg)
	if _, ok := l.refreshes(cfg); ok {
		t.Error("a second refresh beside the first")
	}
	l.endRefresh(refreshed{took: 10 * time.Millisecond}, now, cfg)
	if at, ok := l.refreshes(cfg); !ok || !at.Equal(now.Add(40*time.Millisecond)) {
		t.Errorf("what was written meanwhile is shown at %v, %v; want four times the refresh later", at.Sub(now), ok)
	}
	if task, ok := l.next(now.Add(cfg.CheckEvery), 2, cfg); !ok || task.step != stepNone {
		t.Error("the lane itself rests")
	}
}

func TestRest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		took  time.Duration
		share float64
		want  time.Duration
	}{
		{time.Second, 1, 0},
		{time.Second, 0.5, time.Second},
		{time.Second, 0.1, 9 * time.Second},
		{0, 5e-324, 0},
		{time.Minute, 5e-324, 24 * time.Hour},
	} {
		if got := rest(c.took, c.share); got.Round(time.Millisecond) != c.want {
			t.Errorf("after %v of refreshing for a share of %v: %v, want %v", c.took, c.share, got, c.want)
		}
	}
}

func TestShareOfZeroMeansNoRefresh(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	cfg.RefreshShare = 0
	l.written(now, cfg)
	if _, ok := l.refreshes(cfg); ok {
		t.Error("a refresh")
	}
}

func TestInvalidShareIsRefused(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	for _, share := range []float64{-0.1, 1.1, math.NaN()} {
		cfg.RefreshShare = share
		if cfg.validate() == nil {
			t.Errorf("a share of %v is accepted", share)
		}
	}
}

// TestFailedRefreshIsNoTrouble: it is retried ever more rarely, and logged now and then.
func TestFailedRefreshIsNoTrouble(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	cfg.RefreshShare = 1
	l.written(now, cfg)
	failed := refreshed{took: time.Millisecond, failed: errors.New("no answer")}
	var longest time.Duration
	warned := 0
	began := now
	for range 60 {
		l.beginRefresh()
		if l.endRefresh(failed, now, cfg) {
			warned++
		}
		at, ok := l.refreshes(cfg)
		if !ok {
			t.Fatal("what was written is never shown")
		}
		if rest := at.Sub(now); rest < time.Second || rest > 2*time.Minute {
			t.Fatalf("a rest of %v after a failure", rest)
		} else {
			longest = max(longest, rest)
		}
		now = at
	}
	if longest < 30*time.Second {
		t.Errorf("the longest rest was %v, want about a minute", longest)
	}
	if most := int(now.Sub(began)/warnAgain) + 1; warned < 2 || warned > most {
		t.Errorf("warned %d times in %v", warned, now.Sub(began))
	}
	if l.trouble != nil {
		t.Errorf("a failed refresh is trouble: %+v", l.trouble)
	}
	l.beginRefresh()
	l.endRefresh(refreshed{took: time.Millisecond}, now, cfg)
	l.written(now, cfg)
	if at, ok := l.refreshes(cfg); !ok || at.After(now) {
		t.Errorf("after a success: refreshed at %v, %v", at.Sub(now), ok)
	}
	l.beginRefresh()
	l.endRefresh(failed, now, cfg)
	if at, _ := l.refreshes(cfg); at.Sub(now) > 5*time.Second {
		t.Errorf("the first failure after a success is rested for %v", at.Sub(now))
	}
}
