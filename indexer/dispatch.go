package indexer

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"riskdex/elastic"
	"riskdex/report"
)

// event is what a worker reports to the dispatcher about its task.
type event struct {
	task    task
	stage   stage
	claimed claimed // in stageClaimed
	out     outcome // in stageDone
}

// stage is how far a task is.
type stage int

const (
	stageClaimed      stage = iota // once for each task
	stageAliasWritten              // see progress
	stageDone
)

// progress is what a task reports while it is performed.
type progress struct {
	claimed      func(claimed)
	aliasWritten func() // what it has for the index that apps search is written; the rest only fills a new one
}

// claimed says what a task has claimed.
type claimed struct {
	asked        bool // it has asked the journal; false for a task that ended before
	n            int  // changes
	newIndexOnly bool // the task writes nothing to the index that apps search, only to a new one if at all
}

// dispatcher gives tasks to the workers. It belongs to Run's goroutine.
type dispatcher struct {
	*Indexer
	lanes  []*lane // of content
	all    []*lane // with the probe's
	first  int     // the lane that is asked first; it rotates, for fairness
	tasks  chan task
	events chan event // buffers every stage of a task for each worker, so that none ever waits
	busy   int        // workers that have a task of content

	// probe is the lane of the probe; nil without one. It has one task at a time, and a
	// worker of its own: it measures how content fares, and must not delay it, nor be
	// delayed in another way.
	probe *lane

	refresher *refresher
}

// Run indexes until ctx is done. Tasks under way then have cfg.StopWithin to end; what they
// have not settled by then stays pending in the journal. Run returns nil, and may be called
// once.
func (x *Indexer) Run(ctx context.Context) error {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	d := &dispatcher{Indexer: x, tasks: make(chan task)}
	for _, kind := range report.Kinds() {
		d.lanes = append(d.lanes, x.newLane(kind))
	}
	d.all = d.lanes
	workers := x.cfg.Workers
	if x.cfg.Probe {
		d.probe = x.newLane(report.Probe)
		d.all = append(d.all, d.probe)
		workers++
	}
	d.events = make(chan event, 3*workers)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() { d.work(working) })
	}
	d.refresher = newRefresher(working, len(d.all))
	close(x.commands.begun)
	d.dispatch(ctx)
	close(x.commands.stopped)
	d.refresher.end()
	close(d.tasks)
	d.drain(stop)
	running.Wait()
	return nil
}

// work performs tasks until there are no more.
func (d *dispatcher) work(ctx context.Context) {
	for t := range d.tasks {
		told := false
		tell := progress{
			claimed: func(c claimed) {
				told = true
				d.events <- event{task: t, claimed: c}
			},
			aliasWritten: func() { d.events <- event{task: t, stage: stageAliasWritten} },
		}
		out := d.perform(ctx, t, tell)
		if !told {
			tell.claimed(claimed{})
		}
		d.events <- event{task: t, stage: stageDone, out: out}
	}
}

func (x *Indexer) newLane(kind report.Kind) *lane {
	return &lane{
		kind: kind, pending: true, backoff: x.newBackOff(),
		lastSeen: time.Now(), away: true, unasked: true, // the time before is unknown
		trouble: &judgement{verdict: elastic.Retry, reason: reasonStarting},
	}
}

// reasonStarting is why a lane is closed until the first check of its index.
const reasonStarting = "starting"

func (d *dispatcher) dispatch(ctx context.Context) {
	for {
		d.assignTasks()
		d.refreshDue(time.Now())
		timer := d.timer(time.Now())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-d.journal.Changed():
			for _, l := range d.all {
				l.wake()
			}
		case e := <-d.events:
			d.note(e)
		case r := <-d.refresher.ended:
			d.noteRefresh(r)
		case c := <-d.commands.incoming:
			c.reply <- d.execute(c)
		case <-timer.C:
		}
		timer.Stop()
	}
}

// assignTasks hands out tasks while a worker is free and a lane wants one. The channel has no
// buffer: while busy is less than the number of workers, one is ready to receive.
func (d *dispatcher) assignTasks() {
	for idle := 0; d.busy < d.cfg.Workers && idle < len(d.lanes); {
		l := d.lanes[d.first]
		d.first = (d.first + 1) % len(d.lanes)
		t, ok := l.next(time.Now(), d.tasksPerLane(), d.cfg)
		if !ok {
			idle++
			continue
		}
		idle = 0
		l.begin(t)
		d.busy++
		d.tasks <- t
	}
	if d.probe == nil {
		return
	}
	if t, ok := d.probe.next(time.Now(), 1, d.cfg); ok {
		d.probe.begin(t)
		d.tasks <- t
	}
}

// tasksPerLane leaves a worker for each of the other kinds, so that a slow index delays no
// other.
func (d *dispatcher) tasksPerLane() int {
	return max(1, d.cfg.Workers-(len(d.lanes)-1))
}

func (d *dispatcher) note(e event) {
	l := e.task.lane
	switch e.stage {
	case stageClaimed:
		l.claimed(e.task, e.claimed)
		return
	case stageAliasWritten:
		l.aliasWritten()
		return
	}
	if l != d.probe {
		d.busy--
	}
	was, wasWrong := l.trouble, l.wrong
	now := time.Now()
	if l.end(e.task, e.out, now, d.cfg) {
		d.report(trace.ContextWithRemoteSpanContext(context.Background(), e.out.bulk), l, was)
	}
	d.reportAlias(l, wasWrong)
	if e.out.found != nil {
		l.noteFound(e.out.found, d.newBackOff, now, d.cfg)
	}
	d.showRebuild(l)
}

// report logs and measures that a lane's trouble began, changed or ended. ctx has the span of
// the bulk that showed it.
func (d *dispatcher) report(ctx context.Context, l *lane, was *judgement) {
	index := d.indices.Alias(l.kind)
	d.metrics.showPaused(index, l.trouble)
	d.status.setWaiting(l.kind, index, l.trouble, time.Now())
	switch {
	case l.trouble == nil && was.reason == reasonStarting:
		d.log.InfoContext(ctx, "index ready", "index", index)
	case l.trouble == nil:
		d.log.InfoContext(ctx, "index healed: going on", "index", index, "was", was.reason)
	case l.trouble.reason == reasonElsewhere:
		d.log.InfoContext(ctx, "index left to another process, which has locked its kind", "index", index)
	case l.trouble.reason == reasonJournal:
		d.log.ErrorContext(ctx, "index waits for the journal, which cannot be read or written: tried again until it can", "index", index, "error", l.trouble.answer.Detail)
	case l.trouble.holds():
		d.log.ErrorContext(ctx, "index held: everything is kept, and tried again until it heals", "index", index,
			"reason", l.trouble.reason, "error_type", l.trouble.answer.ErrorType, "detail", l.trouble.answer.Detail)
	default:
		d.log.WarnContext(ctx, "index waits: everything is kept, and tried again until it gets through", "index", index,
			"reason", l.trouble.reason, "error_type", l.trouble.answer.ErrorType, "detail", l.trouble.answer.Detail)
	}
}

// reportAlias logs and measures whether the alias that apps search is right.
func (d *dispatcher) reportAlias(l *lane, was *report.WrongAlias) {
	d.status.setWrong(l.kind, l.wrong)
	d.metrics.showAlias(l.kind, l.wrong != nil)
	switch {
	case l.wrong != nil && (was == nil || *was != *l.wrong):
		d.log.Error("the alias that apps search is wrong; its index is kept up to date meanwhile",
			"alias", l.wrong.Alias, "detail", l.wrong.Detail, "remedy", l.wrong.Remedy)
	case l.wrong == nil && was != nil:
		d.log.Info("the alias that apps search is right again", "alias", was.Alias)
	}
}

// timer fires when the next lane opens, or may be refreshed. While every worker is busy, only
// the probe and refreshes matter, which need none of them.
func (d *dispatcher) timer(now time.Time) *time.Timer {
	wait := d.cfg.CheckEvery
	for _, l := range d.all {
		if at, ok := l.refreshes(d.cfg); ok {
			wait = min(wait, at.Sub(now))
		}
		if d.busy == d.cfg.Workers && l != d.probe {
			continue
		}
		if at, ok := l.opens(d.cfg); ok {
			wait = min(wait, at.Sub(now))
		}
	}
	return time.NewTimer(wait)
}

// working reports whether any task is under way.
func (d *dispatcher) working() bool { return d.busy > 0 || d.probe != nil && d.probe.tasks > 0 }

// drain waits for the tasks under way, and cancels them after a while.
func (d *dispatcher) drain(cut context.CancelFunc) {
	timer := time.NewTimer(d.cfg.StopWithin)
	defer timer.Stop()
	for d.working() {
		select {
		case e := <-d.events:
			d.note(e)
		case <-timer.C:
			cut()
			close(d.giveUp)
			for d.working() {
				d.note(<-d.events)
			}
		}
	}
}
