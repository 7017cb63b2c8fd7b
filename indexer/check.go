package indexer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"riskdex/elastic"
	"riskdex/report"
)

// checkIndex sees to it that the index of a kind is there. A new one, or one that
// riskdex does not know, is filled with everything the journal knows; the journal
// is told first, so that a crash in between cannot leave an index that silently
// lacks documents. The first check also tells what earlier runs have left to do.
func (x *Indexer) checkIndex(parent context.Context, t task) (out outcome) {
	ctx, cancel := context.WithTimeout(parent, elastic.RequestTimeout)
	defer cancel()
	locked := false    // the kind, in the journal
	var unmarked error // why the journal could not be told
	resend := func(ctx context.Context) error {
		// A document that another process is sending to the index that is gone would
		// be settled, and missed.
		if unmarked = x.journal.LockKind(ctx, t.kind); unmarked != nil {
			return unmarked
		}
		locked = true
		n, err := x.journal.Resend(ctx, t.kind)
		if err != nil {
			unmarked = fmt.Errorf("mark the documents of %s to be sent to the index again: %w", t.kind, err)
			return unmarked
		}
		out.resent = true
		if n > 0 { // otherwise the journal is as new as the index
			x.log.Info("the index is new, or it is not known what it holds: every document is sent to it", "index", x.indices.Alias(t.kind), "documents", n)
		}
		return nil
	}
	index, err := x.locateIndex(ctx, t, resend, &out)
	if locked {
		x.journal.UnlockKind(t.kind)
	}
	// A journal that takes longer than ctx is no sign that riskdex stops, as the end
	// of parent is.
	if err != nil && unmarked != nil {
		return x.cannotClaim(parent, t.kind, err)
	}
	if errors.Is(err, report.ErrUndecided) {
		out.trouble = undecided(err)
		return out
	}
	if err != nil {
		out.trouble = x.checkTrouble(t.kind, err)
		return out
	}
	x.metrics.answered(true)
	out.checked, out.index = true, index
	if out.foreign != nil {
		return out
	}
	if !t.back.IsZero() && !out.resent {
		if err := x.remindOfDeletes(ctx, t); err != nil {
			return x.cannotClaim(parent, t.kind, err)
		}
	}
	if !t.known {
		found, err := x.find(ctx, t)
		if err != nil {
			out.checked, out.trouble = false, x.checkTrouble(t.kind, err)
			return out
		}
		out.found = found
	}
	return out
}

// locateIndex returns the index behind the alias. In a take-over that may be another
// journal's, which out says then.
func (x *Indexer) locateIndex(ctx context.Context, t task, resend func(context.Context) error, out *outcome) (index string, err error) {
	if t.takeOver && t.target != nil {
		index, err = x.indices.CheckClaim(ctx, t.kind, t.target.index)
		if err == nil && index != t.target.index {
			out.foreign = new(judgeError(fmt.Errorf("%w, until %s takes its place: %s", report.ErrAnotherJournal, t.target.index, index)))
		}
		return index, err
	}
	index, err = x.indices.Ensure(ctx, t.kind, resend)
	if t.takeOver && errors.Is(err, report.ErrAnotherJournal) {
		out.foreign, err = new(judgeError(err)), nil
	}
	return index, err
}

// deletesLinger is for how long Elasticsearch remembers the version of a delete, as
// the setting index.gc_deletes has it, unless it is restarted meanwhile.
const deletesLinger = time.Hour

// remindOfDeletes has recent tombstones sent again after Elasticsearch was away. If
// it was restarted, it has forgotten their versions, and would take an older write
// that lingers in a proxy on the way: the document would be back. The tombstone
// removes what came back by then, and keeps out what comes later.
func (x *Indexer) remindOfDeletes(ctx context.Context, t task) error {
	n, err := x.journal.ResendDeleted(ctx, t.kind, t.back.Add(-deletesLinger))
	if err != nil {
		return fmt.Errorf("mark the recent deletes of %s to be sent again: %w", t.kind, err)
	}
	switch {
	case n == 0:
	case t.unasked:
		x.log.Info("recent deletes are sent again, in case Elasticsearch was restarted while riskdex did not run", "index", x.indices.Alias(t.kind), "deletes", n)
	default:
		x.log.Info("Elasticsearch was away: recent deletes are sent again", "index", x.indices.Alias(t.kind), "deletes", n)
	}
	return nil
}

// found is what earlier runs have left of a kind.
type found struct {
	changed    bool // the index was made from another mapping
	unfinished bool // a rebuild was interrupted
	old        []string
}

// find compares the mapping at the start only: while processes of two versions run,
// each would take the index of the other for one of an old mapping.
func (x *Indexer) find(ctx context.Context, t task) (*found, error) {
	var f found
	unfinished, old, err := x.indices.Leftovers(ctx, t.kind)
	if err != nil {
		return nil, err
	}
	f.unfinished, f.old = len(unfinished) > 0, old
	if !t.mappingCompared {
		f.changed, err = x.indices.MappingChanged(ctx, t.kind)
	}
	return &f, err
}

// cause returns why a rebuild has to be started, if it has to.
func (f *found) cause() (report.RebuildCause, bool) {
	switch {
	case f == nil:
	case f.unfinished:
		return report.CauseInterrupted, true
	case f.changed:
		return report.CauseMapping, true
	}
	return "", false
}

// checkTrouble notes why the index could not be checked.
func (x *Indexer) checkTrouble(kind report.Kind, err error) *judgement {
	j := judgeError(err)
	x.metrics.answered(j.answer.Level == elastic.LevelRequest && j.reason != elastic.ReasonUnavailable)
	x.metrics.failures.WithLabelValues(string(kind), j.reason).Inc()
	return &j
}
