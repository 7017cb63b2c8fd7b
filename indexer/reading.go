package indexer

import (
	"context"

	"riskdex/report"
)

// readAsKept has documents of a kind made as the journal has kept it: this process may have begun just
// now, or another one may have found it.
func (x *Indexer) readAsKept(ctx context.Context, kind report.Kind) {
	stats, err := x.journal.Stats(ctx)
	if err != nil {
		return // whatever the task asks of the journal next says so
	}
	if err := x.documents.Use(kind, stats.Notes[report.ReadingNote(kind)]); err != nil {
		x.log.ErrorContext(ctx, "how records are read cannot be taken from the journal: they are read anew once there are more", "kind", kind, "error", err)
	}
}

// readBetter looks at what is about to be sent, and reports whether the index that has been filled until
// now is to be rebuilt, because the kind is read in another way from now on. An index to which nothing was
// sent yet need not be.
func (x *Indexer) readBetter(ctx context.Context, t task, changes []report.Change) (rebuild bool) {
	told, first := x.documents.See(t.kind, changes, t.target == nil)
	if told == "" {
		return false
	}
	x.log.InfoContext(ctx, "the values of the records have told how they are read", "kind", t.kind)
	if err := x.journal.Note(ctx, report.ReadingNote(t.kind), told); err != nil {
		x.log.WarnContext(ctx, "how the records are read could not be kept: after a restart it has to be found again", "kind", t.kind, "error", err)
	}
	if !first {
		return true // others may be on their way
	}
	done, err := x.indices.MarkUnfilled(ctx, t.kind)
	return err != nil || !done
}
