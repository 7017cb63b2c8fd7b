package indexer

import (
	"time"

	"riskdex/report"
)

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
