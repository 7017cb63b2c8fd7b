package indexer

import (
	"context"
	"sync"
	"time"

	"riskdex/report"
)

// notes are on their way to the journal. The dispatcher leaves them here, since it must not
// wait for a disk. Of two under a name, the later one stays.
type notes struct {
	mu   sync.Mutex
	wait map[string]string
	busy bool // somebody writes them
}

// noteTimeout bounds how long the journal may take to keep a note.
const noteTimeout = 30 * time.Second

func (x *Indexer) note(name, value string) {
	x.notes.mu.Lock()
	defer x.notes.mu.Unlock()
	if x.notes.wait == nil {
		x.notes.wait = map[string]string{}
	}
	x.notes.wait[name] = value
	if !x.notes.busy {
		x.notes.busy = true
		go x.writeNotes()
	}
}

func (x *Indexer) writeNotes() {
	for {
		x.notes.mu.Lock()
		list := x.notes.wait
		x.notes.wait, x.notes.busy = nil, len(list) > 0
		x.notes.mu.Unlock()
		if len(list) == 0 {
			return
		}
		for name, value := range list {
			ctx, cancel := context.WithTimeout(context.Background(), noteTimeout)
			if err := x.journal.Note(ctx, name, value); err != nil {
				x.log.Warn("a note could not be left in the journal", "note", name, "error", err)
			}
			cancel()
		}
	}
}

// noteRebuild leaves in the journal what another process, or this one after a restart, is to
// know of a rebuild: that it failed, or that there is an index that was not verified yet.
func (x *Indexer) noteRebuild(r report.Rebuild) {
	switch r.Phase {
	case report.PhaseFailed:
		x.note(report.RebuildFailedNote(r.Kind), report.RebuildFailed{At: r.EndedAt, Reason: r.Reason}.Note())
	case report.PhaseStarting:
		x.note(report.RebuildFailedNote(r.Kind), "")
	case report.PhaseRetiring:
		x.note(report.VerifiedNote(r.Kind), "")
	}
}

// clearRebuildFailure clears the note that the last rebuild of a kind failed, and reports whether
// there was one.
func (x *Indexer) clearRebuildFailure(kind report.Kind) bool {
	ctx, cancel := context.WithTimeout(context.Background(), statsTimeout)
	defer cancel()
	stats, err := x.journal.Stats(ctx)
	if err != nil || report.RebuildFailedIn(stats.Notes, kind).At.IsZero() {
		return false
	}
	return x.journal.Note(ctx, report.RebuildFailedNote(kind), "") == nil
}
