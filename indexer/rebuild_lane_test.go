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

// fillingLane returns a lane whose rebuild has begun and has every document marked.
func fillingLane(t *testing.T) (*lane, time.Time, Config) {
	t.Helper()
	l, now, cfg := markingLane(t)
	mark := nextTask(t, l, now, cfg)
	if mark.step != stepMark {
		t.Fatalf("second step %+v, want that documents are marked", mark)
	}
	l.end(mark, outcome{newIndexOnly: true, step: stepOutcome{marked: 7}}, now, cfg)
	l.pending, l.lags = false, false
	return l, now, cfg
}

// markingLane returns a lane whose rebuild has begun, with nothing to claim.
func markingLane(t *testing.T) (*lane, time.Time, Config) {
	t.Helper()
	l, now, cfg := laneForTest()
	l.index = "v1"
	if err := l.startRebuild(report.CauseOperator, backOffForTest, now); err != nil {
		t.Fatal(err)
	}
	begin := nextTask(t, l, now, cfg)
	if begin.step != stepBegin || begin.from != "v1" {
		t.Fatalf("first step %+v, want the beginning with v1", begin)
	}
	l.end(begin, outcome{step: stepOutcome{index: "v2", total: 7, unmarked: 7, since: 100}}, now, cfg)
	if s := l.rebuild.status; s.Phase != report.PhaseFilling || s.OldIndex != "v1" || s.NewIndex != "v2" || s.Total != 7 {
		t.Fatalf("the rebuild is %+v, want it filling v2 from v1 with 7 documents", s)
	}
	return l, now, cfg
}

// nextTask gives the lane its next task, which claims nothing.
func nextTask(t *testing.T, l *lane, now time.Time, cfg Config) task {
	t.Helper()
	next, ok := l.next(now, 2, cfg)
	if !ok {
		t.Fatal("the lane wants no task")
	}
	l.begin(next)
	l.claimed(next, claimed{newIndexOnly: next.step == stepMark})
	return next
}

// TestMarkingDelaysNothing: while all documents are marked for a new index, piece by piece,
// changes are sent and shown, and the index is checked.
func TestMarkingDelaysNothing(t *testing.T) {
	t.Parallel()
	l, now, cfg := markingLane(t)
	l.wake()
	live := nextTask(t, l, now, cfg)
	if live.step != stepNone || live.target == nil || live.target.marked {
		t.Fatalf("%+v goes before a live change", live)
	}
	first := nextTask(t, l, now, cfg)
	if first.step != stepMark || first.after != "" {
		t.Fatalf("%+v beside a live change, want that documents are marked from the first on", first)
	}
	l.end(live, outcome{sent: true, shown: true}, now, cfg)
	l.pending, l.lags = false, false
	if _, ok := l.refreshes(cfg); !ok {
		t.Error("the refresh of a live change waits for the marking")
	}
	if got, ok := l.next(now, 2, cfg); ok {
		t.Errorf("%+v beside the marking, with nothing to claim; want no second marking", got)
	}
	l.wake()
	second := nextTask(t, l, now, cfg)
	if second.step != stepNone {
		t.Errorf("%+v beside the marking, want the next live change", second)
	}
	l.end(second, outcome{}, now, cfg)
	next := report.ResendCursor("5000")
	l.end(first, outcome{newIndexOnly: true, step: stepOutcome{marked: 3, next: next}}, now, cfg)
	if l.newIndexOnly != 0 || l.rebuild.marked || l.rebuild.status.Unmarked != 4 {
		t.Errorf("%d tasks for the new index only, marked %v, %d unmarked; want none, and four of seven left", l.newIndexOnly, l.rebuild.marked, l.rebuild.status.Unmarked)
	}

	late := now.Add(cfg.CheckEvery)
	check := nextTask(t, l, late, cfg)
	if !check.check {
		t.Errorf("%+v between two pieces, want the check that is due", check)
	}
	l.end(check, outcome{checked: true, index: "v1"}, late, cfg)
	l.pending, l.lags = false, false // there was nothing to claim

	again := nextTask(t, l, late, cfg)
	if again.step != stepMark || again.after != next {
		t.Fatalf("%+v, want that marking goes on after %+v", again, next)
	}
	l.end(again, outcome{newIndexOnly: true, step: stepOutcome{failed: &judgement{verdict: elastic.Retry}}}, late, cfg)
	if got, ok := l.next(late, 2, cfg); ok {
		t.Errorf("%+v right after a failure", got)
	}
	at, ok := l.opens(cfg)
	if !ok || !at.After(late) || at.After(late.Add(cfg.CheckEvery-1)) {
		t.Fatalf("after a failure at %v the lane opens at %v, %v; want soon", late, at, ok)
	}
	last := nextTask(t, l, at, cfg)
	if last.step != stepMark || last.after != next {
		t.Fatalf("%+v after a failure, want another attempt from the same place on", last)
	}
	l.end(last, outcome{newIndexOnly: true}, at, cfg)
	if ask := nextTask(t, l, at, cfg); ask.step != stepNone || !ask.target.marked || l.rebuild.status.Unmarked != 0 {
		t.Errorf("%+v, want a task that asks whether the new index is complete", ask)
	}
}

// TestMarkingTakesTurns where a lane has one task at a time: neither live changes, however
// many, nor the rebuild wait for long.
func TestMarkingTakesTurns(t *testing.T) {
	t.Parallel()
	l, now, cfg := markingLane(t)
	for n, want := range []step{stepNone, stepMark, stepNone, stepMark} {
		l.wake()
		next, ok := l.next(now, 1, cfg)
		if !ok || next.step != want {
			t.Fatalf("task %d is %+v, want step %d", n, next, want)
		}
		l.begin(next)
		l.wake() // something is delivered meanwhile
		l.claimed(next, claimed{asked: want == stepNone, n: 1, newIndexOnly: want == stepMark})
		l.end(next, outcome{newIndexOnly: want == stepMark, step: stepOutcome{next: "5"}}, now, cfg)
	}
}

// TestClosedLaneIsNotAskedForMarking: the dispatcher would spin until the lane opens.
func TestClosedLaneIsNotAskedForMarking(t *testing.T) {
	t.Parallel()
	l, now, cfg := markingLane(t)
	l.openAt = now.Add(time.Second)
	if got, ok := l.next(now, 2, cfg); ok {
		t.Errorf("%+v in a lane that is closed", got)
	}
	if at, ok := l.opens(cfg); !ok || at.Before(l.openAt) {
		t.Errorf("it opens at %v, %v; want %v", at, ok, l.openAt)
	}
}

// TestRebuildStoppedWhileItMarks has a piece end after the stop: no other begins.
func TestRebuildStoppedWhileItMarks(t *testing.T) {
	t.Parallel()
	l, now, cfg := markingLane(t)
	mark := nextTask(t, l, now, cfg)
	if err := l.stopRebuild(now); err != nil {
		t.Fatal(err)
	}
	l.end(mark, outcome{newIndexOnly: true, step: stepOutcome{marked: 3, next: "3"}}, now, cfg)
	remove := nextTask(t, l, now, cfg)
	if remove.step != stepRemove || remove.to != "v2" {
		t.Fatalf("%+v, want the removal of the new index", remove)
	}
	l.end(remove, outcome{}, now, cfg)
	l.pending = false
	if got, ok := l.next(now, 2, cfg); ok {
		t.Errorf("%+v after the stop", got)
	}
}

func TestRebuildStepsHaveTheLaneForThemselves(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	l.wake()
	ordinary := nextTask(t, l, now, cfg)
	if err := l.startRebuild(report.CauseOperator, backOffForTest, now); err != nil {
		t.Fatal(err)
	}
	if got, ok := l.next(now, 2, cfg); ok {
		t.Errorf("%+v begins beside a task that writes to one index only", got)
	}
	l.end(ordinary, outcome{sent: true}, now, cfg)
	begin := nextTask(t, l, now, cfg)
	if begin.step != stepBegin {
		t.Fatalf("task %+v, want the first step", begin)
	}
	if got, ok := l.next(now, 2, cfg); ok {
		t.Errorf("%+v begins beside the step", got)
	}
	l.end(begin, outcome{step: stepOutcome{index: "v2"}}, now, cfg)
	l.rebuild.marked = true
	l.wake()
	a := nextTask(t, l, now, cfg)
	b := nextTask(t, l, now, cfg)
	if a.target == nil || a.target.index != "v2" || b.target == nil {
		t.Fatalf("tasks do not write to the new index: %+v", a)
	}
	l.end(a, outcome{filling: filling{complete: true}}, now, cfg)
	if got, ok := l.next(now, 2, cfg); ok {
		t.Errorf("%+v begins while a bulk is under way, want no swap yet", got)
	}
	l.end(b, outcome{}, now, cfg)
	if swap := nextTask(t, l, now, cfg); swap.step != stepSwap || swap.to != "v2" {
		t.Errorf("task %+v, want the swap to v2", swap)
	}
}

// TestNewIndexIsCompleteAtOnce has the last bulk end after a task that found nothing more to
// claim: the lane wants another task that asks whether the new index is complete.
func TestNewIndexIsCompleteAtOnce(t *testing.T) {
	t.Parallel()
	for order, sent := range map[string]bool{"the bulk ends last": true, "the bulk ends first": true, "nothing could be sent": false} {
		l, now, cfg := fillingLane(t)
		l.wake()
		bulk, _ := l.next(now, 2, cfg)
		l.begin(bulk)
		l.claimed(bulk, claimed{asked: true, n: 7, newIndexOnly: true})
		nothing, _ := l.next(now, 2, cfg)
		l.begin(nothing)
		l.claimed(nothing, claimed{asked: true})
		if order != "the bulk ends first" {
			l.end(nothing, outcome{}, now, cfg)
			l.end(bulk, outcome{sent: sent, newIndexOnly: true}, now, cfg)
		} else {
			l.end(bulk, outcome{sent: true, newIndexOnly: true}, now, cfg)
			l.end(nothing, outcome{}, now, cfg)
		}
		last, ok := l.next(now, 2, cfg)
		if !ok {
			t.Fatalf("%s: no task that finds the new index complete", order)
		}
		l.begin(last)
		l.claimed(last, claimed{asked: true})
		l.end(last, outcome{}, now, cfg)
		if got, ok := l.next(now, 2, cfg); ok {
			t.Errorf("%s: %+v, want no more tasks until something happens", order, got)
		}
	}
}

func TestBulksOfARebuildAreSmall(t *testing.T) {
	t.Parallel()
	l, now, cfg := fillingLane(t)
	l.wake()
	first := nextTask(t, l, now, cfg)
	if first.max*fillingShare != cfg.BulkChanges || first.bytes*fillingShare != cfg.BulkBytes {
		t.Errorf("up to %d changes of %d bytes, want a quarter of what an ordinary bulk has", first.max, first.bytes)
	}
	l.end(first, outcome{filling: filling{sent: now}}, now, cfg)
	l.wake()
	if rest := nextTask(t, l, now, cfg); rest.max != cfg.BulkChanges || rest.bytes != cfg.BulkBytes {
		t.Errorf("with nothing left to be sent again, up to %d changes of %d bytes, want those of an ordinary bulk", rest.max, rest.bytes)
	}
}

func TestRebuildStepThatFailedForNowHoldsUpNobody(t *testing.T) {
	t.Parallel()
	l, now, cfg := fillingLane(t)
	l.rebuild.filled()
	l.wake()
	swap := nextTask(t, l, now, cfg)
	l.end(swap, outcome{step: stepOutcome{failed: &judgement{verdict: elastic.Retry}}}, now, cfg)
	between := nextTask(t, l, now, cfg)
	if between.step != stepNone || between.target == nil {
		t.Errorf("%+v between two attempts to swap, want a task that writes to both indices", between)
	}
	l.end(between, outcome{}, now, cfg)
	if at, ok := l.opens(cfg); !ok || at.After(l.rebuild.retryAt) {
		t.Errorf("opens at %v, %v; the next attempt is at %v", at, ok, l.rebuild.retryAt)
	}
	later := l.rebuild.retryAt
	if again := nextTask(t, l, later, cfg); again.step != stepSwap {
		t.Errorf("task %+v, want another attempt to swap", again)
	}
}

func TestRebuildIsNotStoppedTooLate(t *testing.T) {
	t.Parallel()
	l, now, _ := fillingLane(t)
	l.rebuild.filled()
	if err := l.stopRebuild(now); !errors.Is(err, ErrSwapping) {
		t.Errorf("a stop during the swap was answered %v, want ErrSwapping", err)
	}
}

func TestRebuildStoppedWhileItBegins(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	if err := l.startRebuild(report.CauseOperator, backOffForTest, now); err != nil {
		t.Fatal(err)
	}
	begin := nextTask(t, l, now, cfg)
	if err := l.stopRebuild(now); err != nil {
		t.Fatal(err)
	}
	l.end(begin, outcome{step: stepOutcome{index: "v2"}}, now, cfg)
	if l.rebuild.status.Phase != report.PhaseStopped || l.rebuild.target() != nil {
		t.Errorf("the rebuild is %+v, want it stopped without a target", l.rebuild.status)
	}
	if remove := nextTask(t, l, now, cfg); remove.step != stepRemove || remove.to != "v2" {
		t.Errorf("task %+v, want the removal of the new index", remove)
	}
}

func TestOldIndexGoesAfterAWhile(t *testing.T) {
	t.Parallel()
	l, now, cfg := fillingLane(t)
	l.rebuild.filled()
	swap := nextTask(t, l, now, cfg)
	l.end(swap, outcome{}, now, cfg)
	if l.index != "v2" || l.rebuild.status.Phase != report.PhaseRetiring {
		t.Fatalf("index %s and rebuild %+v, want v2 and the old one retiring", l.index, l.rebuild.status)
	}
	l.pending = false
	if got, ok := l.next(now.Add(cfg.RetireAfter-1), 2, cfg); ok && got.step == stepRemove {
		t.Error("the old index goes too early")
	}
	later := now.Add(cfg.RetireAfter)
	remove := nextTask(t, l, later, cfg)
	if remove.step != stepRemove || remove.to != "v1" {
		t.Fatalf("task %+v, want the removal of v1", remove)
	}
	l.end(remove, outcome{step: stepOutcome{failed: &judgement{verdict: elastic.Pause}}}, later, cfg)
	if l.trouble != nil || l.rebuild.status.Phase != report.PhaseRetiring {
		t.Errorf("after a failed removal the rebuild is %+v, want it retiring without trouble", l.rebuild.status)
	}
	later = later.Add(cfg.CheckEvery)
	remove = nextTask(t, l, later, cfg)
	l.end(remove, outcome{}, later, cfg)
	if remove.to != "v1" || l.rebuild.status.Phase != report.PhaseDone || len(l.removals) != 0 {
		t.Errorf("after %+v the rebuild is %+v, want it done", remove, l.rebuild.status)
	}
}

// TestTaskOfAnOlderRebuildDoesNotAffectThisOne: it may end long afterwards.
func TestTaskOfAnOlderRebuildDoesNotAffectThisOne(t *testing.T) {
	t.Parallel()
	l, now, cfg := fillingLane(t)
	l.wake()
	late := nextTask(t, l, now, cfg)
	if err := l.stopRebuild(now); err != nil {
		t.Fatal(err)
	}
	if err := l.startRebuild(report.CauseOperator, backOffForTest, now); err != nil {
		t.Fatal(err)
	}
	l.end(late, outcome{filling: filling{broken: "the index is gone", complete: true}}, now, cfg)
	if l.rebuild.status.Phase != report.PhaseStarting {
		t.Errorf("the new rebuild is %+v, want it starting", l.rebuild.status)
	}
}

func TestRebuildEndsWhenEverythingIsSentToTheAliasAgain(t *testing.T) {
	t.Parallel()
	l, now, cfg := fillingLane(t)
	l.trouble = trouble
	check := nextTask(t, l, now, cfg)
	l.end(check, outcome{checked: true, index: "v1", resent: true}, now, cfg)
	if l.rebuild.status.Phase != report.PhaseFailed || l.rebuild.target() != nil {
		t.Errorf("the rebuild is %+v, want it failed without a target", l.rebuild.status)
	}
}

// TestLaterTasksRemindToo: the task that has deletes sent again need not be the one that sends
// them.
func TestLaterTasksRemindToo(t *testing.T) {
	t.Parallel()
	l, now, cfg := fillingLane(t)
	l.trouble = trouble
	check := nextTask(t, l, now, cfg)
	check.target.reminded = now.Add(-time.Hour)
	l.end(check, outcome{checked: true, index: "v1"}, now, cfg)
	l.wake()
	later := nextTask(t, l, now, cfg)
	change := func(op report.Op, resent bool, at time.Time) report.Change {
		return report.Change{Op: op, Resent: resent, Version: 1, AcceptedAt: at}
	}
	before, since := now.Add(-2*time.Hour), now.Add(-time.Minute)
	for _, c := range []struct {
		change           report.Change
		reminds, isForIt bool
	}{
		{change(report.Delete, true, since), true, false},
		{change(report.Delete, true, before), false, false},
		{change(report.Index, true, since), false, false},
		{change(report.Index, false, since), false, true},
	} {
		if reminds, isForIt := later.target.reminds(c.change), later.target.isForAlias(c.change); reminds != c.reminds || isForIt != c.isForIt {
			t.Errorf("%+v reminds the alias: %v, is for it: %v, want %v and %v", c.change, reminds, isForIt, c.reminds, c.isForIt)
		}
	}
	later.target.only = true
	if later.target.reminds(change(report.Delete, true, since)) {
		t.Error("the index of another journal is reminded of a delete")
	}
}

func TestRebuildTimesOutOnlyWhenSomebodyWaits(t *testing.T) {
	t.Parallel()
	l, now, cfg := fillingLane(t)
	taskEnds := func(f filling) {
		l.wake()
		task := nextTask(t, l, now, cfg)
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
		t.Errorf("the rebuild is %+v, want it failed", l.rebuild.status)
	}
}

func TestDualWriteAnswers(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	if got := estimate(100, 300, time.Minute); got != 3*time.Minute {
		t.Errorf("got %v, want 3m", got)
	}
	if got := estimate(0, 300, time.Minute); got != 0 {
		t.Errorf("with no progress yet: %v, want 0", got)
	}
}
