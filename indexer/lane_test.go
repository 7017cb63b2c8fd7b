package indexer

import (
	"testing"
	"time"

	"riskdex/elastic"
	"riskdex/report"
)

// laneForTest returns a healthy lane at a fixed time.
func laneForTest() (*lane, time.Time, Config) {
	x := &Indexer{cfg: DefaultConfig()}
	now := time.Unix(1_800_000_000, 0)
	l := x.newLane(report.Cities)
	t, _ := l.next(now, 2, x.cfg)
	l.begin(t)
	l.claimed(t, claimed{asked: true, n: 0})
	l.end(t, outcome{checked: true}, now, x.cfg)
	return l, now, x.cfg
}

var trouble = &judgement{verdict: elastic.Pause, reason: elastic.ReasonClosed}

func TestNewLaneChecksItsIndexFirst(t *testing.T) {
	t.Parallel()
	x := &Indexer{cfg: DefaultConfig()}
	l := x.newLane(report.Cities)
	got, ok := l.next(time.Now(), 2, x.cfg)
	if !ok || !got.check {
		t.Fatalf("first task %+v, %v; want a check of the index", got, ok)
	}
	l.begin(got)
	if second, ok := l.next(time.Now(), 2, x.cfg); ok {
		t.Errorf("a second task begins beside the first check: %+v", second)
	}
}

func TestLaneClaimsOneAtATimeAndSendsSeveral(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	l.wake()
	first, ok := l.next(now, 2, cfg)
	if !ok || first.check || first.max != cfg.BulkChanges {
		t.Fatalf("first task %+v, %v; want one that may claim a whole bulk", first, ok)
	}
	l.begin(first)
	if _, ok := l.next(now, 2, cfg); ok {
		t.Error("a second claim while the first is under way")
	}
	l.claimed(first, claimed{asked: true, n: 10})
	second, ok := l.next(now, 2, cfg)
	if !ok {
		t.Fatal("no second task though there may be more")
	}
	l.begin(second)
	l.claimed(second, claimed{asked: true, n: 10})
	if _, ok := l.next(now, 2, cfg); ok {
		t.Error("more tasks than the lane may have")
	}
	l.end(first, outcome{sent: true}, now, cfg)
	third, _ := l.next(now, 2, cfg)
	l.begin(third)
	l.claimed(third, claimed{asked: true, n: 0})
	l.end(third, outcome{}, now, cfg)
	if _, ok := l.next(now, 2, cfg); ok {
		t.Error("a task though there is nothing to claim")
	}
}

func TestWakeUpDuringAClaimIsNotLost(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	l.wake()
	task, _ := l.next(now, 2, cfg)
	l.begin(task)
	l.wake() // a change came in after the journal was read
	l.claimed(task, claimed{asked: true, n: 0})
	l.end(task, outcome{}, now, cfg)
	if _, ok := l.next(now, 2, cfg); !ok {
		t.Error("the lane is idle although a change is pending")
	}
}

func TestLaneInTroubleProbesAloneAndBacksOff(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	l.wake()
	a, _ := l.next(now, 2, cfg)
	l.begin(a)
	l.claimed(a, claimed{asked: true, n: 5})
	b, _ := l.next(now, 2, cfg)
	l.begin(b)
	l.claimed(b, claimed{asked: true, n: 5})
	if !l.end(a, outcome{trouble: trouble}, now, cfg) {
		t.Error("the beginning of trouble is not reported")
	}
	later := now.Add(time.Hour)
	if _, ok := l.next(later, 2, cfg); ok {
		t.Error("a probe while another bulk is under way")
	}
	l.end(b, outcome{trouble: trouble}, now, cfg)
	if _, ok := l.next(now, 2, cfg); ok {
		t.Error("no pause after trouble")
	}
	probe, ok := l.next(later, 2, cfg)
	if !ok || !probe.check || probe.max > trialChanges {
		t.Fatalf("probe %+v, %v", probe, ok)
	}
	var waits []time.Duration
	for range 40 {
		l.begin(probe)
		l.claimed(probe, claimed{asked: true, n: 5})
		if l.end(probe, outcome{trouble: trouble}, later, cfg) {
			t.Fatal("the same trouble is reported again")
		}
		waits = append(waits, l.openAt.Sub(later))
		later = l.openAt
		if probe, ok = l.next(later, 2, cfg); !ok {
			t.Fatal("the lane never opens again")
		}
	}
	if last := waits[39]; last < cfg.LongestBackoff/2 || last > 2*cfg.LongestBackoff {
		t.Errorf("the 40th wait is %v, want about %v", last, cfg.LongestBackoff)
	}
	l.begin(probe)
	l.claimed(probe, claimed{asked: true, n: 5})
	if !l.end(probe, outcome{checked: true, sent: true}, later, cfg) || l.trouble != nil {
		t.Error("the end of trouble is not reported")
	}
	if next, ok := l.next(later, 2, cfg); !ok || next.check {
		t.Errorf("after healing: %+v, %v", next, ok)
	}
}

// TestProbeSizeDependsOnTheTrouble: a probe is small, except where only the changes of
// the last bulk failed.
func TestProbeSizeDependsOnTheTrouble(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer elastic.Answer
		small  bool
	}{
		"a shard is away":       {elastic.Answer{Level: elastic.LevelItem, Status: 503, ErrorType: "unavailable_shards_exception"}, false},
		"Elasticsearch is away": {elastic.Answer{Level: elastic.LevelRequest, Status: 503}, true},
		"it is overloaded":      {elastic.Answer{Level: elastic.LevelItem, Status: 429, ErrorType: "es_rejected_execution_exception"}, true},
		"the index is closed":   {elastic.Answer{Level: elastic.LevelItem, Status: 400, ErrorType: "index_closed_exception"}, true},
	} {
		l, now, cfg := laneForTest()
		l.wake()
		task := nextTask(t, l, now, cfg)
		j := judge(c.answer)
		l.end(task, outcome{sent: true, trouble: &j}, now, cfg)
		probe := nextTask(t, l, l.openAt, cfg)
		if small := probe.max == trialChanges; !probe.check || small != c.small {
			t.Errorf("%s: the probe may have %d changes, want trialChanges or more", name, probe.max)
		}
	}
}

// TestChangesThatBackOffDoNotEndTheTrouble: there is nothing else to send, and nothing
// shows that those changes would be accepted. They may also be settled elsewhere.
func TestChangesThatBackOffDoNotEndTheTrouble(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	j := judge(elastic.Answer{Level: elastic.LevelItem, Status: 503})
	l.wake()
	sends := nextTask(t, l, now, cfg)
	l.end(sends, outcome{sent: true, trouble: &j}, now, cfg)
	for began := now; l.trouble != nil; {
		if now = l.openAt; now.Sub(began) > time.Hour {
			t.Fatal("the lane does not heal")
		}
		probe := nextTask(t, l, now, cfg)
		l.end(probe, outcome{checked: true}, now, cfg)
		if passed := now.Sub(began); l.trouble == nil && passed < longestWait*cfg.LongestBackoff {
			t.Errorf("healed after %v without having sent anything", passed)
		} else if l.trouble != nil && !l.openAt.After(now) {
			t.Fatal("no pause after a probe that found nothing")
		}
	}
}

func TestIdleLaneChecksItsIndex(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	if _, ok := l.next(now.Add(cfg.CheckEvery-1), 2, cfg); ok {
		t.Error("the index was checked too early")
	}
	if task, ok := l.next(now.Add(cfg.CheckEvery), 2, cfg); !ok || !task.check {
		t.Errorf("next task %+v, %v; want a check of the index", task, ok)
	}
}

// TestBusyLaneChecksItsIndex, whether its tasks find something to send or are woken for
// nothing, as by changes of other kinds.
func TestBusyLaneChecksItsIndex(t *testing.T) {
	t.Parallel()
	for name, out := range map[string]outcome{"busy": {sent: true}, "woken for nothing": {}} {
		l, now, cfg := laneForTest()
		for at := now; ; at = at.Add(cfg.CheckEvery / 10) {
			l.wake()
			task := nextTask(t, l, at, cfg)
			if due := !at.Before(now.Add(cfg.CheckEvery)); task.check != due {
				t.Fatalf("%s: after %v the task checks the index: %v", name, at.Sub(now), task.check)
			} else if due {
				break
			}
			l.end(task, out, at, cfg)
		}
	}
}

// TestIndexCheckWaitsForTasksUnderWay, and no other task begins before the check: a lane
// whose tasks always overlap would never notice that another journal now fills its index.
func TestIndexCheckWaitsForTasksUnderWay(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	l.wake()
	sends := nextTask(t, l, now, cfg)
	now = now.Add(cfg.CheckEvery)
	l.wake()
	if beside, ok := l.next(now, 2, cfg); ok {
		t.Errorf("%+v begins before the check that is due", beside)
	}
	l.end(sends, outcome{sent: true}, now, cfg)
	if check := nextTask(t, l, now, cfg); !check.check {
		t.Errorf("%+v is not a check", check)
	}
}

// TestBulkDoesNotDelayTheIndexCheck: the lane is idle after the bulk, and must be woken for
// the check.
func TestBulkDoesNotDelayTheIndexCheck(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	l.wake()
	later := now.Add(cfg.CheckEvery / 2)
	sends := nextTask(t, l, later, cfg)
	l.end(sends, outcome{sent: true}, later, cfg)
	if at, ok := l.opens(cfg); !ok || !at.Equal(now.Add(cfg.CheckEvery)) {
		t.Errorf("opens %v after the last check, %v; want %v", at.Sub(now), ok, cfg.CheckEvery)
	}
}

// TestTaskThatHasCheckedSendsBesideOthers: only the check itself has the lane for itself.
// Even if the task's bulk takes long, the lane can begin another task.
func TestTaskThatHasCheckedSendsBesideOthers(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	now = now.Add(cfg.CheckEvery)
	l.wake()
	check, _ := l.next(now, 2, cfg)
	l.begin(check)
	if beside, ok := l.next(now, 2, cfg); !check.check || ok {
		t.Errorf("%+v begins beside %+v, want a check alone", beside, check)
	}
	l.claimed(check, claimed{asked: true, n: 10})
	if beside, ok := l.next(now, 2, cfg); !ok || beside.check {
		t.Errorf("after the check comes %+v, %v; want a task that sends", beside, ok)
	}
}

// TestEmptyClaimIsNoSignOfLife: Elasticsearch was not asked. It may have been restarted
// since the last answer, before riskdex notices that it is away.
func TestEmptyClaimIsNoSignOfLife(t *testing.T) {
	t.Parallel()
	l, began, cfg := laneForTest()
	l.known = true
	now := began
	for now.Sub(began) < 10*time.Second {
		now = now.Add(100 * time.Millisecond)
		l.wake()
		task := nextTask(t, l, now, cfg)
		l.end(task, outcome{}, now, cfg)
	}
	l.wake()
	task := nextTask(t, l, now, cfg)
	away := judge(elastic.Answer{Level: elastic.LevelRequest, Status: 503})
	l.end(task, outcome{sent: true, trouble: &away}, now, cfg)
	probe := nextTask(t, l, l.openAt, cfg)
	if !probe.check || !probe.back.Equal(began) {
		t.Errorf("the probe checks the index: %v; Elasticsearch was away since %v, want %v", probe.check, probe.back, began)
	}
}

func TestEmptyClaimEndsNoTrouble(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	l.wake()
	sends, _ := l.next(now, 2, cfg)
	l.begin(sends)
	l.claimed(sends, claimed{asked: true, n: 5})
	empty := nextTask(t, l, now, cfg)
	l.end(sends, outcome{sent: true, trouble: trouble}, now, cfg)
	if l.end(empty, outcome{}, now, cfg) || l.trouble == nil {
		t.Error("the lane has healed without an answer")
	}
}

// TestLaneDoesNotSpin: a time that passes while a task is under way must not be waited
// for, or the dispatcher would ask repeatedly until the task ends.
func TestLaneDoesNotSpin(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	l.wake()
	task, _ := l.next(now, 2, cfg)
	l.begin(task)
	l.claimed(task, claimed{asked: true, n: 5})
	if at, ok := l.opens(cfg); ok {
		t.Errorf("healthy, with a task under way: opens at %v", at)
	}
	l.end(task, outcome{trouble: trouble}, now, cfg)
	if at, ok := l.opens(cfg); !ok || !at.Equal(l.openAt) {
		t.Errorf("in trouble: opens at %v, %v", at, ok)
	}
	probe, _ := l.next(l.openAt, 2, cfg)
	l.begin(probe)
	if at, ok := l.opens(cfg); ok {
		t.Errorf("while its probe is under way: opens at %v", at)
	}
	l.claimed(probe, claimed{asked: true, n: 5})
	l.end(probe, outcome{checked: true, sent: true}, now, cfg)
	if at, ok := l.opens(cfg); !ok || !at.Equal(now.Add(cfg.CheckEvery)) {
		t.Errorf("healthy and idle: opens at %v, %v", at, ok)
	}
}

// TestTakeOverWaitsForTheFormerOwner: however small the new index is, it replaces the old
// one only after the owner of the old one has had time for two checks.
func TestTakeOverWaitsForTheFormerOwner(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cause    report.RebuildCause
		takeOver bool
		waits    time.Duration
	}{
		"take-over":   {report.CauseOperator, true, 2 * DefaultConfig().CheckEvery},
		"interrupted": {report.CauseInterrupted, false, 0},
		"neither":     {report.CauseOperator, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l, now, cfg := laneForTest()
			if err := l.startRebuild(c.cause, (&Indexer{cfg: cfg}).newBackOff, now); err != nil {
				t.Fatal(err)
			}
			if c.takeOver {
				l.takeOver(now)
				check, _ := l.next(now, 2, cfg)
				if !check.check || !check.takeOver {
					t.Fatalf("it begins with %+v", check)
				}
				l.begin(check)
				l.claimed(check, claimed{asked: true, n: 0})
				l.end(check, outcome{checked: true, ownedByOther: new(judgeError(report.ErrAnotherJournal))}, now, cfg)
			}
			begin, _ := l.next(now, 2, cfg)
			if begin.step != stepBegin {
				t.Fatalf("then comes %+v", begin)
			}
			l.begin(begin)
			l.claimed(begin, claimed{})
			l.end(begin, outcome{step: stepOutcome{index: "new"}}, now, cfg)
			l.rebuild.status.Phase = report.PhaseSwapping
			swap, at, ok := l.due()
			if !ok || swap.step != stepSwap || c.waits > 0 && !at.Equal(now.Add(c.waits)) || c.waits == 0 && at.After(now) {
				t.Errorf("the swap, %v, is due %v later, want %v", swap.step, at.Sub(now), c.waits)
			}
		})
	}
}

// TestNothingGoesToTheAliasDuringATakeOver, nor after it was stopped, until a check has
// shown who owns the index behind the alias, even if there was trouble meanwhile.
func TestNothingGoesToTheAliasDuringATakeOver(t *testing.T) {
	t.Parallel()
	l, now, cfg := laneForTest()
	if err := l.startRebuild(report.CauseOperator, (&Indexer{cfg: cfg}).newBackOff, now); err != nil {
		t.Fatal(err)
	}
	l.takeOver(now)
	nextTask := func() task {
		t.Helper()
		task, ok := l.next(now, 2, cfg)
		if !ok {
			t.Fatal("no task is wanted")
		}
		l.begin(task)
		return task
	}
	end := func(given task, out outcome) {
		l.claimed(given, claimed{})
		l.end(given, out, now, cfg)
	}
	check := nextTask()
	if !check.check || !check.takeOver {
		t.Fatalf("it begins with %+v", check)
	}
	end(check, outcome{checked: true, index: "other", ownedByOther: new(judgeError(report.ErrAnotherJournal))})
	begin := nextTask()
	if begin.step != stepBegin {
		t.Fatalf("then comes %+v", begin)
	}
	end(begin, outcome{step: stepOutcome{failed: &judgement{verdict: elastic.Retry}}})
	l.wake()
	if task, ok := l.next(now, 2, cfg); ok {
		t.Errorf("before there is a new index: %+v", task)
	}
	now = l.rebuild.retryAt
	l.checkedAt = now
	end(nextTask(), outcome{step: stepOutcome{index: "new"}})
	l.rebuild.marked = true
	first := nextTask()
	l.claimed(first, claimed{asked: true, n: 5})
	second := nextTask()
	for _, task := range []task{first, second} {
		if task.target == nil || !task.target.only || task.target.index != "new" {
			t.Fatalf("it is filled by %+v", task)
		}
	}
	l.end(first, outcome{trouble: &judgement{verdict: elastic.Retry, reason: elastic.ReasonUnavailable}}, now, cfg)
	end(second, outcome{sent: true})
	if err := l.stopRebuild(now); err != nil {
		t.Fatal(err)
	}
	l.wake()
	if task := nextTask(); !task.check || task.takeOver || task.target != nil {
		t.Errorf("after the stop comes %+v", task)
	}
}
