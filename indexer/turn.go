package indexer

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"riskdex/report"
)

// turn is what a worker is asked to do for a kind.
type turn struct {
	lane    *lane    // the dispatcher's, not for workers
	rebuild *rebuild // the dispatcher's, not for workers
	kind    report.Kind
	started time.Time

	ensure  bool      // see first that the index exists
	crowded time.Time // where not zero: a crowd has been in the way since then
	back    time.Time // where not zero: Elasticsearch was away, and last did its part then
	known   bool      // what earlier runs have left is known already
	checked bool      // and whether the mapping has changed
	max     int       // changes to claim at most
	seen    int       // the dispatcher's count of wake-ups when it gave the turn
	target  *target   // where to write to as well; nil when nowhere

	step     step
	from, to string // for a step: the index behind the alias; the one that it is about
	fits     []report.Stamp
}

// alone tells whether no other turn of the same kind may be under way.
func (t turn) alone() bool { return t.ensure || t.step != stepNone }

// outcome is what came of a turn.
type outcome struct {
	trouble *judgement // nil when Elasticsearch did its part

	looked  bool   // the index is there
	index   string // which one, where looked
	found   *found // what earlier runs have left; nil when it was not looked for
	resent  bool   // everything is sent to the alias again
	sent    bool   // changes were sent
	spoilt  bool   // a bulk was not taken as a whole
	crowded bool   // every change failed by itself, and others may wait behind them
	lost    bool   // another process has the kind alone, or has had it
	shown   bool   // the index that apps search took changes, which its next refresh shows

	bulk trace.SpanContext // the last one, if it carried something traced

	wrote   string // the index that the alias led to; empty when nothing says so
	filling filling
	step    stepOutcome
}

// take does a turn. It calls claimed, at most once, as soon as the journal has
// said what there is.
func (x *Indexer) take(ctx context.Context, t turn, claimed func(int)) (out outcome) {
	if t.step != stepNone {
		out.step = x.takeStep(ctx, t)
		return out
	}
	if t.ensure {
		// What another process is busy with is neither looked at nor mended.
		if _, err := x.journal.Claim(ctx, t.kind, 0, x.cfg.BulkBytes); err != nil {
			return x.cannotClaim(ctx, t.kind, err)
		}
		out = x.look(ctx, t)
		_, rebuild := out.found.cause()
		if out.trouble != nil || rebuild || out.resent && t.target != nil {
			return out
		}
	}
	changes, err := x.journal.Claim(ctx, t.kind, t.max, x.cfg.BulkBytes)
	if err != nil {
		return x.cannotClaim(ctx, t.kind, err)
	}
	claimed(len(changes))
	if len(changes) > 0 {
		x.transfer(ctx, t, changes, &out)
	}
	if t.target != nil && !slices.ContainsFunc(changes, func(c report.Change) bool { return c.Again }) {
		out.filling.complete, out.filling.sent = x.isComplete(ctx, t)
	}
	return out
}

// cannotClaim is what comes of a turn that the journal gives nothing to.
func (x *Indexer) cannotClaim(ctx context.Context, kind report.Kind, err error) (out outcome) {
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, report.ErrHeld):
		x.indices.Forget(kind)
		out.lost, out.trouble = true, elsewhere(err)
	default:
		x.log.Error("cannot claim changes from the journal", "kind", kind, "error", err)
		x.metrics.failures.WithLabelValues(string(kind), reasonJournal).Inc()
		out.trouble = &judgement{retry, reasonJournal, answer{detail: err.Error()}}
	}
	return out
}

// reasonElsewhere is why a lane is closed while another process has its kind alone. It
// is no failure.
const reasonElsewhere = "held_elsewhere"

func elsewhere(err error) *judgement {
	return &judgement{retry, reasonElsewhere, answer{detail: err.Error()}}
}

// transfer sends changes and settles them.
func (x *Indexer) transfer(ctx context.Context, t turn, changes []report.Change, out *outcome) {
	batch := x.prepareAll(ctx, changes)
	var judgements []judgement
	if t.target != nil {
		judgements = x.deliverBoth(ctx, t, batch, out)
	} else {
		judgements = x.deliver(ctx, t, batch, out)
	}
	out.spoilt = out.trouble != nil && out.trouble.answer.level != item
	out.sent = slices.ContainsFunc(batch, func(p prepared) bool { return p.refused == nil })
	out.crowded = out.trouble != nil && out.trouble.ofItems() && x.othersBehind(t, changes)
	var settlements []report.Settlement
	for i, j := range judgements {
		s := x.settlementFor(ctx, batch[i], j, out.trouble == nil)
		if out.crowded && s.Outcome == report.Retry {
			s.NotBefore = x.letBy(t, s.Key)
		}
		settlements = append(settlements, s)
	}
	if out.spoilt && t.max == 1 {
		// Others go first at the next try, which comes sooner.
		x.patience.suspect(batch[0].change.Key)
		settlements[0].NotBefore = time.Now().Add(2 * x.cfg.LongestBackoff)
	}
	out.bulk = lastBulk(batch)
	if x.settle(trace.ContextWithRemoteSpanContext(ctx, out.bulk), changes, settlements) {
		x.traceSettled(batch, settlements, time.Now())
	}
}
