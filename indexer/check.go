package indexer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"riskdex/elastic"
	"riskdex/report"
)

// checkIndex makes sure that the index of a kind exists. A new index, or an unknown one, is
// filled with everything in the journal. The journal marks the documents first, so that a crash
// in between cannot leave an index that silently lacks documents. The first check also finds
// what earlier runs have left to do.
func (x *Indexer) checkIndex(parent context.Context, t task) (out outcome) {
	ctx, cancel := context.WithTimeout(parent, elastic.RequestTimeout)
	defer cancel()
	if !t.known {
		x.readAsKept(ctx, t.kind)
	}
	locked := false    // the kind, in the journal
	var unmarked error // why the journal could not do its part
	resend := func(ctx context.Context) error {
		// Otherwise a document that another process is sending to the lost index would be
		// settled, and missing.
		if unmarked = x.journal.LockKind(ctx, t.kind); unmarked != nil {
			return unmarked
		}
		locked = true
		n, err := report.ResendAll(ctx, x.journal, t.kind)
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
	place, byTurns, lost := x.findPlace(ctx)
	if byTurns != nil {
		if err := x.noteTurns(ctx, byTurns); err != nil {
			return x.cannotClaim(parent, t.kind, err)
		}
	}
	index, err := x.locateIndex(ctx, t, resend, &out)
	if err == nil && out.ownedByOther == nil && !t.takeOver {
		if err = lost; err == nil && place != "" {
			unmarked = x.resendIfMoved(ctx, t.kind, place, resend, &out)
			err = unmarked
		}
	}
	if locked {
		x.journal.UnlockKind(t.kind)
	}
	// The journal may take longer than ctx. Only the end of parent means a stop.
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
	if out.ownedByOther != nil {
		return out
	}
	if err, ofJournal := x.compareIndices(ctx, t.kind); err != nil {
		if ofJournal {
			return x.cannotClaim(parent, t.kind, err)
		}
		out.checked, out.trouble = false, x.checkTrouble(t.kind, err)
		return out
	}
	if !t.back.IsZero() && !out.resent {
		if err := x.remindOfDeletes(ctx, t); err != nil {
			return x.cannotClaim(parent, t.kind, err)
		}
	}
	if (!t.known || out.resent) && x.mayReplace(ctx, t.kind) == nil {
		found, err := x.findLeftovers(ctx, t.kind, !t.mappingCompared || out.resent)
		if err != nil {
			out.checked, out.trouble = false, x.checkTrouble(t.kind, err)
			return out
		}
		out.found = found
	}
	return out
}

// resendIfMoved marks everything to be sent again if the journal last sent this kind to another
// cluster, or to indices with another prefix: what was settled there is missing here. The same where
// several answered by turns.
func (x *Indexer) resendIfMoved(ctx context.Context, kind report.Kind, place string, resend func(context.Context) error, out *outcome) error {
	stats, err := x.journal.Stats(ctx)
	if err == nil {
		if both := x.turns.replaced(kind, place, report.PlaceIn(stats.Notes, kind)); both != nil {
			if err = x.noteTurns(ctx, both); err == nil {
				stats, err = x.journal.Stats(ctx)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("find where the journal has sent %s: %w", kind, err)
	}
	before := stats.Notes[report.PlaceNote(kind)]
	note, again := report.TurnsIn(stats.Notes).NoteOfPlace(before, place, stats.Kinds[kind].Resending, time.Now())
	if before == note {
		x.turns.leave(kind, place)
		return nil
	}
	if again && before != "" && !out.resent {
		if err := resend(ctx); err != nil {
			return err
		}
		x.log.Warn("the journal has sent to another cluster, or under another prefix, before: every document is sent here, too", "index", x.indices.Alias(kind))
	}
	// Only now: a crash before has everything sent once more.
	if err := x.journal.Note(ctx, report.PlaceNote(kind), note); err != nil {
		return fmt.Errorf("note where the journal sends %s: %w", kind, err)
	}
	x.turns.leave(kind, place)
	return nil
}

// locateIndex returns the index that apps are to search. During a take-over that may be another
// journal's; out.ownedByOther says so. What is wrong with the alias keeps nobody from writing to
// that index, if it is known: out.wrong says so.
func (x *Indexer) locateIndex(ctx context.Context, t task, resend func(context.Context) error, out *outcome) (index string, err error) {
	if t.takeOver && t.target != nil {
		index, err = x.indices.CheckTakeOver(ctx, t.kind, t.target.index)
		if err == nil && index != t.target.index {
			out.ownedByOther = new(judgeError(fmt.Errorf("%w, until %s takes its place: %s", report.ErrAnotherJournal, t.target.index, index)))
		}
		return index, err
	}
	index, err = x.indices.Ensure(ctx, t.kind, resend)
	if t.takeOver && errors.Is(err, report.ErrAnotherJournal) {
		out.ownedByOther, err = new(judgeError(err)), nil
	}
	if wrong, is := errors.AsType[*report.WrongAlias](err); is {
		if out.wrong = wrong; index != "" {
			err = nil
		}
	}
	return index, err
}

// deletesLinger is how long Elasticsearch remembers the version of a delete (setting
// index.gc_deletes), unless it restarts.
const deletesLinger = time.Hour

// remindOfDeletes has recent tombstones sent again after Elasticsearch was away. After a restart
// it has forgotten their versions, and would accept an older write that lingers in a proxy: the
// document would be back. The tombstone removes what came back, and keeps out what comes later.
//
// During a rebuild, what is sent again is meant for the new index. So the target says which
// deletes the index that apps search is reminded of, also of those that the rebuild has marked.
func (x *Indexer) remindOfDeletes(ctx context.Context, t task) error {
	since := t.back.Add(-deletesLinger).Truncate(time.Microsecond) // as the journal keeps times
	n, err := x.journal.ResendDeleted(ctx, t.kind, since)
	if err != nil {
		return fmt.Errorf("mark the recent deletes of %s to be sent again: %w", t.kind, err)
	}
	if t.target != nil && t.target.reminded.IsZero() { // the first time is the earliest
		t.target.reminded = since
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

// found is what earlier runs have left to do for a kind.
type found struct {
	changed    bool // the index was made from another mapping
	unfinished bool // a rebuild was interrupted
	old        []string
}

// findLeftovers returns what earlier runs have left to do. It compares the mapping at the start,
// and of an index that was not known before, only: otherwise two processes of different versions
// would keep rebuilding each other's index.
func (x *Indexer) findLeftovers(ctx context.Context, kind report.Kind, compare bool) (*found, error) {
	var f found
	unfinished, old, err := x.indices.Leftovers(ctx, kind)
	if err != nil {
		return nil, err
	}
	f.unfinished, f.old = len(unfinished) > 0, old
	if compare {
		f.changed, err = x.indices.MappingChanged(ctx, kind)
	}
	return &f, err
}

// cause returns why a rebuild has to start, if so.
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
	x.metrics.answered(j.answer.Level != elastic.LevelTransport && j.reason != elastic.ReasonUnavailable)
	x.metrics.failures.WithLabelValues(string(kind), j.reason).Inc()
	return &j
}
