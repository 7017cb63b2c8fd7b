package indexer

import (
	"context"
	"fmt"
	"time"

	"riskdex/elastic"
	"riskdex/report"
)

// filling is what a task that writes to two indices says about the new one. Its trouble must
// never affect searches of the old one: anything but temporary trouble ends the rebuild, and
// temporary trouble delays only what nobody waits for.
type filling struct {
	progress bool   // it accepted changes
	stalled  bool   // it accepted nothing although the old one did
	broken   string // why it is of no use; empty if it is
	detail   string // its last answer when it accepted nothing

	sent     time.Time // when nothing was marked to be sent again; zero while something is
	complete bool      // it lacks no document

	fits []report.Stamp // changes that it accepted although the old one refuses them
}

// isForAlias reports whether c is settled only when the index that apps search has it, and not
// the new one alone.
func (t *target) isForAlias(c report.Change) bool {
	return t == nil || !t.only && (!c.Resent || c.Version > t.since)
}

// reminds reports whether c, which is meant for the new index, reminds the one that apps search
// of a delete; see remindOfDeletes.
func (t *target) reminds(c report.Change) bool {
	return c.Op == report.Delete && !t.only && !t.reminded.IsZero() && !c.AcceptedAt.Before(t.reminded)
}

// dualWrite sends live changes to the index that apps search and then to the new one, and documents
// that are sent again to the new one only. A change is settled when both have it. The first one gets
// reminders of deletes as well; whether it takes them does not matter, so that an index which takes nothing
// can be replaced. The two bulks go out one after the other and from the same lines, so they take
// no more memory than one.
func (x *Indexer) dualWrite(ctx context.Context, t task, batch []prepared, out *outcome, tell progress) []judgement {
	forAlias := func(i int) bool { return t.target.isForAlias(batch[i].change) }
	shown := x.sendSome(ctx, t.kind, t.index, batch, func(i int) bool {
		return forAlias(i) || t.target.reminds(batch[i].change)
	})
	x.resolveConflicts(ctx, t.index, batch, shown)
	x.confirm(ctx, t.index, batch, shown)
	for i, j := range shown {
		if j != nil && !j.over() && !forAlias(i) {
			shown[i] = nil // a reminder
		}
	}
	switch {
	case !anyTaken(shown):
	case out.newIndexOnly:
		out.shown = true // these are reminders, for which no refresh waits
	default:
		tell.aliasWritten() // the refresh need not wait for the new index
		out.newIndexOnly = true
	}
	// What has to be sent to the alias again can wait for the new index too.
	filled := x.sendSome(ctx, t.kind, t.target.index, batch, func(i int) bool {
		return shown[i] == nil || shown[i].over()
	})
	x.resolveConflicts(ctx, t.target.index, batch, filled)
	judgements := make([]judgement, len(batch))
	for i := range batch {
		judgements[i] = dualVerdict(shown[i], filled[i])
		if c := batch[i].change; shown[i] != nil && shown[i].verdict == elastic.Dead && filled[i].taken() {
			out.filling.fits = append(out.filling.fits, report.Stamp{Key: c.Key, Version: c.Version})
		}
		if out.filling.broken == "" && breaks(shown[i], filled[i]) {
			out.filling.broken = describe(t.target.index, batch[i].change, filled[i])
		}
	}
	out.filling.progress = anyOver(filled)
	out.filling.stalled = anyOver(shown) && count(filled) > 0 && !out.filling.progress
	if j := troubleIn(present(filled)); j != nil {
		out.filling.detail = j.answer.Detail
	}
	switch {
	case count(shown) > 0:
		out.trouble = troubleIn(present(shown))
	case out.filling.broken == "":
		out.trouble = troubleIn(present(filled))
	}
	return judgements
}

// dualVerdict decides about a change by the answers of the alias and of the new index; nil if
// it was not sent there. A change that only the old index refuses is a dead letter until the
// swap, since nobody can find it.
func dualVerdict(shown, filled *judgement) judgement {
	switch {
	case shown != nil && !shown.over():
		return *shown
	case filled.taken() && shown == nil:
		return *filled
	case filled.verdict == elastic.Retry || filled.verdict == elastic.IndexAhead:
		return *filled
	case shown != nil:
		return *shown
	}
	return judgement{verdict: elastic.Retry, reason: filled.reason, answer: filled.answer}
}

// breaks reports whether an answer of the new index ends the rebuild. A document that the old
// index refuses as well does not.
func breaks(shown, filled *judgement) bool {
	if filled == nil || filled.taken() || filled.verdict == elastic.Retry || filled.verdict == elastic.IndexAhead {
		return false
	}
	return filled.verdict != elastic.Dead || shown == nil || shown.verdict != elastic.Dead
}

func describe(index string, c report.Change, j *judgement) string {
	if j.verdict == elastic.Dead {
		return fmt.Sprintf("the new index %s refuses the document %q, which the old one has: %s: %s", index, c.ID, j.answer.ErrorType, j.answer.Detail)
	}
	return fmt.Sprintf("the new index %s cannot be written to (%s): %s", index, j.reason, j.answer.Detail)
}
