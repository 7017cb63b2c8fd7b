package indexer

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"

	"riskdex/report"
)

// turn is what a worker is asked to do for a kind.
type turn struct {
	lane   *lane // the dispatcher's, not for workers
	kind   report.Kind
	ensure bool // see first that the index exists
	max    int  // changes to claim at most
	seen   int  // the dispatcher's count of wake-ups when it gave the turn
}

// outcome is what came of a turn.
type outcome struct {
	trouble *judgement // nil when Elasticsearch did its part
	due     time.Time  // when the first of the changes that were put off may be claimed again
}

// take does a turn. It calls claimed, at most once, as soon as the journal has
// said what there is.
func (x *Indexer) take(ctx context.Context, t turn, claimed func(int)) outcome {
	if t.ensure {
		if err := x.ensure(ctx, t.kind); err != nil {
			return outcome{trouble: x.ensureTrouble(t.kind, err)}
		}
	}
	changes, err := x.journal.Claim(ctx, t.kind, t.max, x.cfg.BulkBytes)
	if err != nil {
		if ctx.Err() != nil {
			return outcome{}
		}
		x.log.Error("cannot claim changes from the journal", "kind", t.kind, "error", err)
		return outcome{trouble: &judgement{retry, reasonJournal, answer{detail: err.Error()}}}
	}
	claimed(len(changes))
	if len(changes) == 0 {
		return outcome{}
	}
	batch, settlements := x.prepareAll(changes)
	judgements := x.send(ctx, t.kind, batch)
	out := outcome{trouble: troubleIn(judgements, len(settlements))}
	for i, j := range judgements {
		s := x.settlementFor(batch[i].change, j, out.trouble == nil)
		if !s.NotBefore.IsZero() && (out.due.IsZero() || s.NotBefore.Before(out.due)) {
			out.due = s.NotBefore
		}
		settlements = append(settlements, s)
	}
	x.settle(ctx, changes, settlements)
	return out
}

// prepareAll prepares changes. One that no document can be made of is dead at
// once; the receiver lets no such change in, so this is the last resort that
// keeps it from blocking the others.
func (x *Indexer) prepareAll(changes []report.Change) ([]prepared, []report.Settlement) {
	batch := make([]prepared, 0, len(changes))
	var settlements []report.Settlement
	for _, c := range changes {
		p, err := x.prepare(c)
		if err != nil {
			x.metrics.failures.WithLabelValues(string(c.Kind), reasonDocument).Inc()
			x.log.Error("dead letter: no document could be made of the change", "kind", c.Kind, "id", c.ID, "version", c.Version, "error", err)
			settlements = append(settlements, report.Settlement{
				Key: c.Key, Version: c.Version, Outcome: report.Dead, ErrorType: "riskdex_document", Reason: err.Error(),
			})
			continue
		}
		batch = append(batch, p)
	}
	return batch, settlements
}

// send sends batch as one bulk, in halves where something in it spoils the
// whole, and judges every change in it.
func (x *Indexer) send(ctx context.Context, kind report.Kind, batch []prepared) []judgement {
	if len(batch) == 0 {
		return nil
	}
	started := time.Now()
	items, failure, ok := x.bulk(ctx, x.indices.Alias(kind), batch)
	x.metrics.sent(kind, len(batch), time.Since(started), ok || failure.level == request && failure.status < 500)
	judgements := make([]judgement, len(batch))
	if ok {
		for i, a := range items {
			judgements[i] = classify(a)
		}
		return judgements
	}
	whole := classify(failure)
	if whole.verdict == bisect && len(batch) > 1 && ctx.Err() == nil {
		half := len(batch) / 2
		return spoilt(append(x.send(ctx, kind, batch[:half]), x.send(ctx, kind, batch[half:])...))
	}
	if whole.verdict == bisect && whole.reason == reasonTooLarge {
		whole.verdict = dead // too large alone: it will not shrink
	}
	for i := range judgements {
		judgements[i] = whole
	}
	return judgements
}

// spoilt decides for the changes that spoilt a bulk even alone. Where others of
// the same bulk were taken it is they that are refused; where none was, the
// fault may as well be in every request, and no document is to blame for it.
func spoilt(judgements []judgement) []judgement {
	taken := false
	for _, j := range judgements {
		taken = taken || j.verdict != bisect
	}
	if taken {
		for i, j := range judgements {
			if j.verdict == bisect {
				judgements[i].verdict = dead
			}
		}
	}
	return judgements
}

// troubleIn returns why the lane must wait: the first change that is held, or,
// when nothing in the bulk made progress, the first that failed. It returns nil
// when single changes may wait by themselves.
func troubleIn(judgements []judgement, alreadySettled int) *judgement {
	progress := alreadySettled > 0
	var failed *judgement
	for i, j := range judgements {
		switch j.verdict {
		case hold:
			return &judgements[i]
		case retry, bisect:
			if failed == nil {
				failed = &judgements[i]
			}
		default:
			progress = true
		}
	}
	if progress {
		return nil
	}
	return failed
}

// settlementFor says what becomes of c. alone tells that only this change, not
// the lane, is to wait.
func (x *Indexer) settlementFor(c report.Change, j judgement, alone bool) report.Settlement {
	s := report.Settlement{Key: c.Key, Version: c.Version, ErrorType: j.answer.errorType, Reason: j.answer.detail}
	if j.reason != "" {
		x.metrics.failures.WithLabelValues(string(c.Kind), j.reason).Inc()
	}
	switch j.verdict {
	case settled:
		s.Outcome = report.Indexed
		if c.Op == report.Delete {
			s.Outcome = report.Deleted
		}
	case superseded:
		s.Outcome = report.Superseded
		x.log.Debug("superseded: the index has this version or a newer one", "kind", c.Kind, "id", c.ID, "version", c.Version)
	case dead:
		s.Outcome = report.Dead
		// Elasticsearch's sentence may quote the document, which has no place in
		// a log; the journal keeps it.
		x.log.Error("dead letter: Elasticsearch refuses the document", "kind", c.Kind, "id", c.ID, "version", c.Version,
			"error_type", s.ErrorType)
	default:
		s.Outcome = report.Retry
		x.metrics.retries.WithLabelValues(string(c.Kind), j.reason).Inc()
		if alone {
			s.NotBefore = time.Now().Add(x.patience.next(c.Key))
		}
		return s
	}
	x.patience.forget(c.Key)
	return s
}

// settle tells the journal, and does not give up while the process runs: a
// change that stays claimed would never be sent again.
func (x *Indexer) settle(ctx context.Context, changes []report.Change, settlements []report.Settlement) {
	// What Elasticsearch has said is written down even when riskdex is stopping.
	ctx = context.WithoutCancel(ctx)
	pause := x.newBackOff()
	for {
		attempt, cancel := context.WithTimeout(ctx, settleTimeout)
		err := x.journal.Settle(attempt, settlements)
		cancel()
		if err == nil {
			x.metrics.settled(changes, settlements, time.Now())
			return
		}
		x.log.Error("cannot settle changes in the journal", "changes", len(settlements), "error", err)
		select {
		case <-x.giveUp:
			return // they are pending in the journal, and sent again after the restart
		case <-time.After(pause.NextBackOff()):
		}
	}
}

// settleTimeout bounds one attempt to settle.
const settleTimeout = 30 * time.Second

// newBackOff returns exponential backoff with jitter that never ends.
func (x *Indexer) newBackOff() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval = x.cfg.FirstBackoff
	b.MaxInterval = x.cfg.LongestBackoff
	b.MaxElapsedTime = 0 // the library's default gives up after 15 minutes
	b.Reset()
	return b
}
