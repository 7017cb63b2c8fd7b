package indexer

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"riskdex/elastic"
	"riskdex/report"
)

// task is one piece of work of a worker for one kind.
type task struct {
	lane    *lane    // for the dispatcher only
	rebuild *rebuild // for the dispatcher only
	kind    report.Kind
	started time.Time

	check           bool      // see first that the index exists
	back            time.Time // if not zero: Elasticsearch was away, and last answered then
	unasked         bool      // with back: it may only have been away before this process first asked it
	known           bool      // it is known what earlier runs have left to do
	mappingCompared bool      // and whether the mapping has changed
	max, bytes      int       // changes to claim at most, and bytes of their bodies
	seen            int       // wake-ups of the lane when the task was assigned
	index           string    // that apps are to search, when it was last checked
	target          *target   // the new index to write to as well; nil without one

	takeOver bool // a rebuild is to take the index over from another journal, or does so

	step     step
	from, to string // for a step: the index behind the alias; the one that it is about
	fits     []report.Stamp
	after    report.ResendCursor // for stepMark: where to go on
}

// exclusive reports whether the task excludes others of the same kind.
func (t task) exclusive() bool { return t.check || t.step != stepNone && t.step != stepMark }

// outcome is the result of a task.
type outcome struct {
	trouble *judgement // nil when Elasticsearch did its part

	checked       bool               // the index is there
	index         string             // which one, where checked
	wrong         *report.WrongAlias // what is wrong with the alias, where that was looked at
	ownedByOther  *judgement         // why it is not to be written to: another journal fills it, which a take-over passes
	found         *found             // what earlier runs have left; nil where that was not asked
	resent        bool               // everything is sent to the alias again
	changedLater  bool               // the index would be made otherwise now, and is not replaced while changes may be lost
	sent          bool               // changes were sent
	newIndexOnly  bool               // since it was last reported, it only fills a new index
	lockedByOther bool               // another process has locked the kind, or has had it locked since
	shown         bool               // the index that apps search took changes, which its next refresh shows

	bulk trace.SpanContext // the last one, if it carried something traced

	filling filling
	step    stepOutcome
}

// perform performs a task, and reports each stage at most once.
func (x *Indexer) perform(ctx context.Context, t task, tell progress) (out outcome) {
	if t.step != stepNone {
		if out.newIndexOnly = t.step == stepMark; out.newIndexOnly {
			tell.claimed(claimed{newIndexOnly: true})
		}
		out.step = x.performStep(ctx, t)
		return out
	}
	if t.check {
		defer func() {
			if out.trouble == nil || out.trouble.reason != reasonStarting {
				x.triedToCompare(t.kind)
			}
		}()
		// While another process has locked the kind, its index is neither checked nor repaired.
		if _, err := x.journal.Claim(ctx, t.kind, 0, x.cfg.BulkBytes); err != nil {
			return x.cannotClaim(ctx, t.kind, err)
		}
		out = x.checkIndex(ctx, t)
		_, rebuild := out.found.cause()
		t.index = out.index
		if out.trouble != nil || rebuild || out.resent && t.target != nil || t.takeOver && t.target == nil {
			return out
		}
	}
	changes, err := x.journal.Claim(ctx, t.kind, t.max, t.bytes)
	if err != nil {
		return x.cannotClaim(ctx, t.kind, err)
	}
	out.newIndexOnly = len(changes) > 0 && !slices.ContainsFunc(changes, t.target.isForAlias)
	tell.claimed(claimed{asked: true, n: len(changes), newIndexOnly: out.newIndexOnly})
	if len(changes) > 0 {
		done, err := x.awaitTurn(ctx, changes)
		if err != nil {
			return out // what is claimed can be claimed again after the start
		}
		x.sendAndSettle(ctx, t, changes, &out, tell)
		done()
	}
	if t.target != nil && t.target.marked && !slices.ContainsFunc(changes, func(c report.Change) bool { return c.Resent }) {
		out.filling.complete, out.filling.sent = x.isComplete(ctx, t)
	}
	return out
}

// awaitTurn waits until no other task sends what is larger than a bulk, if changes are: sending takes
// eight times a body, which is read, made a document, and that a bulk. The error says that the indexer
// stops.
func (x *Indexer) awaitTurn(ctx context.Context, changes []report.Change) (done func(), err error) {
	size := 0
	for _, c := range changes {
		size += len(c.Body)
	}
	if size <= x.cfg.BulkBytes {
		return func() {}, nil
	}
	select {
	case x.large <- struct{}{}:
		return func() { <-x.large }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// cannotClaim is the outcome of a task whose claim failed.
func (x *Indexer) cannotClaim(ctx context.Context, kind report.Kind, err error) (out outcome) {
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, report.ErrKindLocked):
		x.indices.Forget(kind)
		out.lockedByOther, out.trouble = true, elsewhere(err)
	default:
		x.compared.set(kind, false) // it may be in an older state when it is back
		x.metrics.failures.WithLabelValues(string(kind), reasonJournal).Inc()
		out.trouble = &judgement{verdict: elastic.Retry, reason: reasonJournal, answer: elastic.Answer{Detail: err.Error()}}
	}
	return out
}

// reasonElsewhere is why a lane is closed while another process has locked its kind. It is no
// failure.
const reasonElsewhere = "held_elsewhere"

func elsewhere(err error) *judgement {
	return &judgement{verdict: elastic.Retry, reason: reasonElsewhere, answer: elastic.Answer{Detail: err.Error()}}
}

// sendAndSettle sends changes and settles them.
func (x *Indexer) sendAndSettle(ctx context.Context, t task, changes []report.Change, out *outcome, tell progress) {
	if x.readBetter(ctx, t, changes) {
		if x.mayReplace(ctx, t.kind) == nil {
			out.found = &found{changed: true}
		} else { // checks find it once that has ended
			out.changedLater = true
		}
	}
	batch := x.prepareAll(ctx, changes)
	var judgements []judgement
	if t.target == nil || t.target.only {
		judgements = x.write(ctx, t, batch, out)
	} else {
		judgements = x.dualWrite(ctx, t, batch, out, tell)
	}
	out.sent = slices.ContainsFunc(batch, func(p prepared) bool { return p.refused == nil })
	x.raise(ctx, t.kind, batch, judgements)
	var settlements []report.Settlement
	took := time.Since(t.started)
	for i, j := range judgements {
		settlements = append(settlements, x.settlementFor(ctx, batch[i], j, out.trouble == nil, len(batch), took))
	}
	out.bulk = lastBulk(batch)
	if x.settle(trace.ContextWithRemoteSpanContext(ctx, out.bulk), changes, settlements) {
		x.traceSettled(batch, settlements, time.Now())
	}
}
