package indexer

import (
	"fmt"
	"time"

	"riskdex/report"
)

// execute executes a command.
func (d *dispatcher) execute(c command) error {
	for _, l := range d.all {
		if l.kind != c.kind {
			continue
		}
		var err error
		switch {
		case c.stop:
			err = l.stopRebuild(time.Now())
		case reasonOf(l.trouble) == reasonElsewhere:
			err = report.ErrKindLocked
		case l.foreign() && !c.takeOver && !l.rebuild.active():
			err = fmt.Errorf("%w: %s", report.ErrAnotherJournal, l.trouble.answer.Detail)
		default:
			err = l.startRebuild(report.CauseOperator, d.newBackOff, time.Now())
			if err == nil && c.takeOver {
				l.takeOver(time.Now())
			}
		}
		d.showRebuild(l)
		return err
	}
	return fmt.Errorf("no kind is called %q", c.kind)
}

// showRebuild publishes, logs and measures the phase of a lane's rebuild.
func (d *dispatcher) showRebuild(l *lane) {
	if l.kindLocked && !l.rebuild.active() {
		l.kindLocked = false
		d.journal.UnlockKind(l.kind)
	}
	if l.rebuild == nil {
		return
	}
	now := l.rebuild.status
	before := d.status.setRebuild(now)
	if before.Phase == now.Phase && before.StartedAt.Equal(now.StartedAt) {
		return
	}
	d.metrics.rebuild(l.kind, now.Phase)
	d.noteRebuild(now)
	log := d.log.With("alias", d.indices.Alias(l.kind))
	switch now.Phase {
	case report.PhaseStarting:
		log.Info("rebuild: a new index is made", "cause", now.Cause)
	case report.PhaseFilling:
		what := "rebuild: the new index is filled, and changes go to both"
		if l.rebuild.takesOver {
			what = "rebuild: the new index is filled, to take the place of another journal's, which that one leaves alone from now on"
		}
		log.Info(what, "old", now.OldIndex, "new", now.NewIndex, "documents", now.Total)
	case report.PhaseSwapping:
		log.Info("rebuild: the new index has everything", "new", now.NewIndex)
	case report.PhaseRetiring:
		log.Info("rebuild: apps search the new index", "new", now.NewIndex, "old", now.OldIndex, "took", now.EndedAt.Sub(now.StartedAt).Round(time.Millisecond))
	case report.PhaseFailed:
		log.Error("rebuild failed: apps go on searching the old index, which stays up to date; fix the cause and rebuild again",
			"old", now.OldIndex, "new", now.NewIndex, "cause", now.Cause, "reason", now.Reason)
	case report.PhaseStopped:
		log.Warn("rebuild stopped: apps go on searching the old index, which stays up to date", "old", now.OldIndex, "reason", now.Reason)
	}
}
