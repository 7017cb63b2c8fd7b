package indexer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"riskdex/elastic"
	"riskdex/report"
)

// step is a special task of a rebuild. All but stepMark have nothing else under way for their kind.
type step int

const (
	stepNone   step = iota // an ordinary task
	stepBegin              // create the new index
	stepMark               // have some more documents given out again, for the new index
	stepSwap               // replace the old index with the new one
	stepRemove             // delete an index that is no longer needed
)

// stepOutcome is the result of a step.
type stepOutcome struct {
	failed        *judgement // nil after success; verdict Retry if it may be retried
	lockedByOther bool       // another process has locked the kind

	index    string         // begin: the new index, if it may exist
	total    int            // begin: documents to send, about
	unmarked int            // begin: of them, those to mark
	since    report.Version // begin: see target
	own      bool           // begin: the index behind the alias is this journal's

	marked int                 // mark: documents
	next   report.ResendCursor // mark: where to go on; zero after the last
}

func (x *Indexer) performStep(parent context.Context, t task) (out stepOutcome) {
	ctx, cancel := context.WithTimeout(parent, elastic.RequestTimeout)
	defer cancel()
	err := x.mayStep(ctx, t)
	if err == nil && t.step != stepMark {
		err = x.mayReplace(ctx, t.kind)
	}
	switch {
	case err != nil:
	case t.step == stepBegin:
		out, err = x.beginRebuild(ctx, t)
	case t.step == stepMark:
		out.marked, out.next, err = x.journal.Resend(ctx, t.kind, t.after)
	case t.step == stepSwap:
		if err = x.swap(ctx, t); err == nil {
			x.revive(ctx, t)
		}
	case t.step == stepRemove:
		if err = x.indices.Remove(ctx, t.kind, t.to); err != nil {
			x.log.Warn("cannot delete an index that is no longer needed; trying again later", "index", t.to, "error", err)
		}
	}
	if out.lockedByOther = errors.Is(err, report.ErrKindLocked); out.lockedByOther {
		x.indices.Forget(t.kind) // the index behind the alias may be the other process's by now
	}
	if err != nil {
		j := judgeError(err)
		j.answer.Detail = err.Error()
		if _, ofElastic := errors.AsType[*elastic.UnreachableError](err); !ofElastic && j.reason == elastic.ReasonUnreachable {
			j.reason = reasonJournal
		}
		out.failed = &j
		if !out.lockedByOther && j.verdict == elastic.Retry && t.step != stepRemove && parent.Err() == nil {
			x.log.Warn("rebuild: a step could not be taken; trying again until it can", "alias", x.indices.Alias(t.kind), "error", err)
		}
	}
	return out
}

// mayStep asks whether another journal has taken over.
func (x *Indexer) mayStep(ctx context.Context, t task) (err error) {
	switch {
	case t.step == stepMark:
		return nil // it touches no index
	case !t.takeOver:
		return x.indices.CheckLineage(ctx, t.kind)
	case t.step == stepSwap:
		_, err = x.indices.CheckTakeOver(ctx, t.kind, t.to)
	}
	return err
}

// beginRebuild makes the new index. Documents are marked after it, so a crash leaves an index
// that is known to be unfinished, and is found at the next start.
func (x *Indexer) beginRebuild(ctx context.Context, t task) (out stepOutcome, err error) {
	if t.from == "" && !t.takeOver {
		return out, fmt.Errorf("it is not known which index of %s to replace", x.indices.Alias(t.kind))
	}
	if err := x.journal.LockKind(ctx, t.kind); err != nil {
		return out, err
	}
	if t.takeOver {
		if err := x.mayTakeOver(ctx, t); err != nil {
			return out, err
		}
	}
	unfinished, _, err := x.indices.Leftovers(ctx, t.kind)
	if err != nil {
		return out, err
	}
	// The name differs from that of an unfinished one: a process that was taken for
	// dead may still be about to move the alias to that.
	index, err := x.indices.Next(ctx, t.kind)
	if err != nil {
		return out, err
	}
	for _, index := range unfinished {
		if err := x.indices.Remove(ctx, t.kind, index); err != nil {
			return out, err
		}
	}
	before, err := x.kindStats(ctx, t.kind)
	if err != nil {
		return out, err
	}
	if before.DeadLetters > 0 {
		x.log.Warn("the new index will lack the documents that are dead letters, of which the old one may have an older version; look at them with: riskdex dead list",
			"alias", x.indices.Alias(t.kind), "dead_letters", before.DeadLetters)
	}
	documents, err := x.journal.Documents(ctx, t.kind)
	if err != nil {
		return out, fmt.Errorf("count the documents of %s in the journal: %w", t.kind, err)
	}
	out.total = max(documents+before.Tombstones-before.DeadLetters-before.DroppedLetters, toSend(before))
	out.unmarked = out.total - toSend(before)
	// Existing marks may be meant for the index behind the alias, even if an earlier rebuild
	// was begun: it may have ended before it marked anything. So while there are marks, since
	// stays 0, and documents that are sent again go to both indices. If the marks are only that
	// rebuild's, the alias gets what it already has, which is harmless.
	if before.Resending == 0 {
		out.since = report.Version(time.Now().UnixMicro())
	}
	out.index = index
	if err := x.indices.Create(ctx, t.kind, index); err != nil {
		return out, err
	}
	// Another journal may only have been about to take it over.
	err = x.indices.CheckLineage(ctx, t.kind)
	out.own = err == nil && t.from != ""
	if t.takeOver && errors.Is(err, report.ErrAnotherJournal) {
		err = nil
	}
	return out, err
}

// mayTakeOver returns an error where the journal is known to have too few documents for
// its index to take the place of another journal's. It comes before the new index, which
// would have that journal wait.
func (x *Indexer) mayTakeOver(ctx context.Context, t task) error {
	if t.from == "" {
		return nil
	}
	has, err := x.journal.Documents(ctx, t.kind)
	if err != nil {
		return fmt.Errorf("count the documents of %s in the journal: %w", t.kind, err)
	}
	had, err := x.indices.Refresh(ctx, t.from)
	if err != nil {
		return err
	}
	if tooFew(had, has) {
		return tooFewToTakeOver(t, had, fmt.Sprintf("this journal has %d documents", has))
	}
	return nil
}

func tooFewToTakeOver(t task, had int, has string) error {
	return unsafeError(fmt.Sprintf("%s, the index %s of another journal has %d, and is left to that one: "+
		"have everything delivered to this journal, then riskdex rebuild --take-over; or, if that index is of no use, "+
		"delete it in Elasticsearch while no riskdex runs with the journal that fills it, then riskdex rebuild --take-over", has, t.from, had))
}

// toSend returns how many documents are to be sent to a new index, deleted ones among them.
func toSend(k report.KindStats) int { return k.Resending + k.Pending }

func (x *Indexer) kindStats(ctx context.Context, kind report.Kind) (report.KindStats, error) {
	stats, err := x.journal.Stats(ctx)
	if err != nil {
		return report.KindStats{}, fmt.Errorf("read what is left to be sent of %s: %w", kind, err)
	}
	return stats.Kinds[kind], nil
}

// isComplete reports whether the new index has everything that searches of the old one find. It
// is called once all documents have been marked.
//
// A pending document has no mark, and a marked one loses its mark when a newer version is
// accepted: the old index has some version of it, the new one none until it is sent. So it takes
// two readings: one without any marks, and a later one in which nothing has been pending since
// the first. Of what became pending in between, the new index has the previous version, or
// neither index has any.
func (x *Indexer) isComplete(ctx context.Context, t task) (complete bool, sent time.Time) {
	now, err := x.kindStats(ctx, t.kind)
	if err != nil {
		x.log.Error("cannot tell whether a new index is complete", "index", t.target.index, "error", err)
		return false, time.Time{}
	}
	if now.Resending > 0 {
		return false, time.Time{}
	}
	first := t.target.sent
	return now.Pending == 0 || !first.IsZero() && now.OldestWaiting.After(first), time.Now()
}

// swap moves the alias to the new index, once everything in it can be seen.
func (x *Indexer) swap(ctx context.Context, t task) error {
	// This process may have been taken for dead, and another have begun anew.
	if err := x.journal.LockKind(ctx, t.kind); err != nil {
		return err
	}
	if err, _ := x.compareIndex(ctx, t.kind, newestGiven); err != nil {
		return err
	}
	if err := x.mayReplace(ctx, t.kind); err != nil {
		return err
	}
	had := 0
	if t.from != "" {
		var err error
		if had, err = x.indices.Refresh(ctx, t.from); err != nil {
			return err
		}
	}
	has, err := x.indices.Refresh(ctx, t.to)
	if err != nil {
		return err
	}
	if tooFew(had, has) {
		if t.takeOver {
			return tooFewToTakeOver(t, had, fmt.Sprintf("the new index %s has %d documents", t.to, has))
		}
		refused := fmt.Sprintf("the new index %s has %d documents, the old one %s has %d: ", t.to, has, t.from, had)
		return unsafeError(refused + "the journal does not seem to be the one that filled it, or most documents are dead letters; " +
			"have everything delivered again, or, if the old index is of no use, delete it: it is made anew from the journal")
	}
	return x.indices.Swap(ctx, t.kind, t.from, t.to)
}

// tooFew reports whether a swap would take more than half of what there is from
// those who search. Both indices have seen the same deletes, so that can only be
// when the journal never had those documents.
func tooFew(had, has int) bool { return had > 10 && has < had/2 }

// revive has those changes sent once more that only the old index refused.
func (x *Indexer) revive(ctx context.Context, t task) {
	if len(t.fits) == 0 {
		return
	}
	n, err := x.journal.RetryDead(ctx, t.fits)
	if err != nil {
		x.log.Error("dead letters that fit the new index could not be retried; do it with: riskdex dead retry", "alias", x.indices.Alias(t.kind), "error", err)
		return
	}
	x.log.Info("dead letters fit the new index: they are sent once more", "alias", x.indices.Alias(t.kind), "dead_letters", n)
}

// unsafeError is a reason of our own not to go on.
type unsafeError string

func (e unsafeError) Error() string { return string(e) }
