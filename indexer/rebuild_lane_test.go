package indexer

import (
	"errors"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"

	"riskdex/elastic"
	"riskdex/report"
)

func backOffForTest() *backoff.ExponentialBackOff {
	return (&Indexer{cfg: DefaultConfig()}).newBackOff()
}

// fillingLane returns a lane whose rebuild has begun.
func fillingLane(t *testing.T) (*lane, time.Time, Config) {
	t.Helper()
	l, now, cfg := laneForTest()
	l.index = "v1"
	if err := l.startRebuild(report.CauseOperator, backOffForTest, now); err != nil {
		t.Fatal(err)
	}
	begin := take(t, l, now, cfg)
	if begin.step != stepBegin || begin.from != "v1" {
		t.Fatalf("%+v", begin)
	}
	l.end(begin, outcome{step: stepOutcome{index: "v2", total: 7, since: 100}}, now, cfg)
	if s := l.rebuild.status; s.Phase != report.PhaseFilling || s.OldIndex != "v1" || s.NewIndex != "v2" || s.Total != 7 {
		t.Fatalf("%+v", s)
	}
	return l, now, cfg
}

// take gives the lane its next task, which claims nothing.
func take(t *testing.T, l *lane, now time.Time, cfg Config) task {
	t.Helper()
	next, ok := l.next(now, 2, cfg)
	if !ok {
		t.Fatal("the lane wants no task")
	}
	l.begin(next)
	l.claimed(next, noClaim)
	return next
}

func TestRebuildStepsHaveTheLaneForThemselves(t *testing.T) {
	l, now, cfg := laneForTest()
	l.wake()
	ordinary := take(t, l, now, cfg)
	if err := l.startRebuild(report.CauseOperator, backOffForTest, now); err != nil {
		t.Fatal(err)
	}
	if got, ok := l.next(now, 2, cfg); ok {
		t.Errorf("beside a task that writes to one index only: %+v", got)
	}
	l.end(ordinary, outcome{sent: true}, now, cfg)
	begin := take(t, l, now, cfg)
	if begin.step != stepBegin {
		t.Fatalf("%+v", begin)
	}
	if got, ok := l.next(now, 2, cfg); ok {
		t.Errorf("beside the step: %+v", got)
	}
	l.end(begin, outcome{step: stepOutcome{index: "v2"}}, now, cfg)
	l.wake()
	a := take(t, l, now, cfg)
	b := take(t, l, now, cfg)
	if a.target == nil || a.target.index != "v2" || b.target == nil {
		t.Fatalf("tasks do not write to the new index: %+v", a)
	}
	l.end(a, outcome{filling: filling{complete: true}}, now, cfg)
	if got, ok := l.next(now, 2, cfg); ok {
		t.Errorf("a swap while a bulk is under way: %+v", got)
	}
	l.end(b, outcome{}, now, cfg)
	if swap := take(t, l, now, cfg); swap.step != stepSwap || swap.to != "v2" {
		t.Errorf("%+v", swap)
	}
}

func TestRebuildStepThatFailedForNowHoldsUpNobody(t *testing.T) {
	l, now, cfg := fillingLane(t)
	l.rebuild.filled()
	l.wake()
	swap := take(t, l, now, cfg)
	l.end(swap, outcome{step: stepOutcome{failed: &judgement{verdict: elastic.Retry}}}, now, cfg)
	between := take(t, l, now, cfg)
	if between.step != stepNone || between.target == nil {
		t.Errorf("between two attempts to swap, tasks go to both: %+v", between)
	}
	l.end(between, outcome{}, now, cfg)
	if at, ok := l.opens(cfg); !ok || at.After(l.rebuild.retryAt) {
		t.Errorf("opens at %v, %v; the next attempt is at %v", at, ok, l.rebuild.retryAt)
	}
	later := l.rebuild.retryAt
	if again := take(t, l, later, cfg); again.step != stepSwap {
		t.Errorf("%+v", again)
	}
}

func TestRebuildIsNotStoppedTooLate(t *testing.T) {
	l, now, _ := fillingLane(t)
	l.rebuild.filled()
	if err := l.stopRebuild(now); !errors.Is(err, ErrSwapping) {
		t.Errorf("%v", err)
	}
}

func TestRebuildStoppedWhileItBegins(t *testing.T) {
	l, now, cfg := laneForTest()
	if err := l.startRebuild(report.CauseOperator, backOffForTest, now); err != nil {
		t.Fatal(err)
	}
	begin := take(t, l, now, cfg)
	if err := l.stopRebuild(now); err != nil {
		t.Fatal(err)
	}
	l.end(begin, outcome{step: stepOutcome{index: "v2"}}, now, cfg)
	if l.rebuild.status.Phase != report.PhaseStopped || l.rebuild.target() != nil {
		t.Errorf("%+v", l.rebuild.status)
	}
	if remove := take(t, l, now, cfg); remove.step != stepRemove || remove.to != "v2" {
		t.Errorf("the index that was made is left: %+v", remove)
	}
}

func TestOldIndexGoesAfterAWhile(t *testing.T) {
	l, now, cfg := fillingLane(t)
	l.rebuild.filled()
	swap := take(t, l, now, cfg)
	l.end(swap, outcome{}, now, cfg)
	if l.index != "v2" || l.rebuild.status.Phase != report.PhaseRetiring {
		t.Fatalf("%s, %+v", l.index, l.rebuild.status)
	}
	l.pending = false
	if got, ok := l.next(now.Add(cfg.RetireAfter-1), 2, cfg); ok && got.step == stepRemove {
		t.Error("the old index goes too early")
	}
	later := now.Add(cfg.RetireAfter)
	remove := take(t, l, later, cfg)
	if remove.step != stepRemove || remove.to != "v1" {
		t.Fatalf("%+v", remove)
	}
	l.end(remove, outcome{step: stepOutcome{failed: &judgement{verdict: elastic.Pause}}}, later, cfg)
	if l.trouble != nil || l.rebuild.status.Phase != report.PhaseRetiring {
		t.Errorf("a failed removal is trouble: %+v", l.rebuild.status)
	}
	later = later.Add(cfg.CheckEvery)
	remove = take(t, l, later, cfg)
	l.end(remove, outcome{}, later, cfg)
	if remove.to != "v1" || l.rebuild.status.Phase != report.PhaseDone || len(l.removals) != 0 {
		t.Errorf("%+v, %+v", remove, l.rebuild.status)
	}
}

// TestTurnOfAnOlderRebuildSaysNothingOfThisOne: it may end long after.
func TestTurnOfAnOlderRebuildSaysNothingOfThisOne(t *testing.T) {
	l, now, cfg := fillingLane(t)
	l.wake()
	late := take(t, l, now, cfg)
	if err := l.stopRebuild(now); err != nil {
		t.Fatal(err)
	}
	if err := l.startRebuild(report.CauseOperator, backOffForTest, now); err != nil {
		t.Fatal(err)
	}
	l.end(late, outcome{filling: filling{broken: "the index is gone", complete: true}}, now, cfg)
	if l.rebuild.status.Phase != report.PhaseStarting {
		t.Errorf("%+v", l.rebuild.status)
	}
}

func TestRebuildEndsWhenEverythingIsSentToTheAliasAgain(t *testing.T) {
	l, now, cfg := fillingLane(t)
	l.trouble = trouble
	look := take(t, l, now, cfg)
	l.end(look, outcome{checked: true, index: "v1", resent: true}, now, cfg)
	if l.rebuild.status.Phase != report.PhaseFailed || l.rebuild.target() != nil {
		t.Errorf("%+v", l.rebuild.status)
	}
}

func TestRebuildTimesOutOnlyWhenSomebodyWaits(t *testing.T) {
	l, now, cfg := fillingLane(t)
	taskEnds := func(f filling) {
		l.wake()
		task := take(t, l, now, cfg)
		l.end(task, outcome{filling: f}, now, cfg)
		now = now.Add(cfg.RebuildTimeout / 2)
	}
	for range 10 {
		taskEnds(filling{})
	}
	taskEnds(filling{stalled: true})
	taskEnds(filling{progress: true})
	taskEnds(filling{stalled: true})
	taskEnds(filling{stalled: true})
	if l.rebuild.status.Phase != report.PhaseFilling {
		t.Fatalf("given up too early: %+v", l.rebuild.status)
	}
	taskEnds(filling{stalled: true})
	if l.rebuild.status.Phase != report.PhaseFailed {
		t.Errorf("%+v", l.rebuild.status)
	}
}

func TestBothAnswers(t *testing.T) {
	j := func(v elastic.Verdict) *judgement { return &judgement{verdict: v, reason: v.String()} }
	for _, c := range []struct {
		shown, filled *judgement
		want          elastic.Verdict
		breaks        bool
	}{
		{j(elastic.Settled), j(elastic.Settled), elastic.Settled, false},
		{j(elastic.Settled), j(elastic.Superseded), elastic.Settled, false},
		{j(elastic.Superseded), j(elastic.Settled), elastic.Superseded, false},
		{j(elastic.Settled), j(elastic.Retry), elastic.Retry, false},
		{j(elastic.Settled), j(elastic.Dead), elastic.Settled, true},
		{j(elastic.Settled), j(elastic.Pause), elastic.Settled, true},
		{j(elastic.Settled), j(elastic.Bisect), elastic.Settled, true},
		{j(elastic.Dead), j(elastic.Settled), elastic.Dead, false},
		{j(elastic.Dead), j(elastic.Dead), elastic.Dead, false},
		{j(elastic.Dead), j(elastic.Pause), elastic.Dead, true},
		{j(elastic.Retry), nil, elastic.Retry, false},
		{j(elastic.Pause), nil, elastic.Pause, false},
		{nil, j(elastic.Settled), elastic.Settled, false},
		{nil, j(elastic.Retry), elastic.Retry, false},
		{nil, j(elastic.Dead), elastic.Retry, true},
		{nil, j(elastic.Pause), elastic.Retry, true},
		{nil, j(elastic.Bisect), elastic.Retry, true},
	} {
		name := func(j *judgement) string {
			if j == nil {
				return "-"
			}
			return j.verdict.String()
		}
		if got := dualVerdict(c.shown, c.filled); got.verdict != c.want {
			t.Errorf("%s and %s: %s, want %s", name(c.shown), name(c.filled), got.verdict, c.want)
		}
		if got := breaks(c.shown, c.filled); got != c.breaks {
			t.Errorf("%s and %s: breaks %v, want %v", name(c.shown), name(c.filled), got, c.breaks)
		}
	}
}

func TestEstimate(t *testing.T) {
	if got := estimate(100, 300, time.Minute); got != 3*time.Minute {
		t.Errorf("%v", got)
	}
	if got := estimate(0, 300, time.Minute); got != 0 {
		t.Errorf("unknown, yet %v", got)
	}
}
