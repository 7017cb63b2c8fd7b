package indexer

import (
	"context"
	"slices"

	"riskdex/elastic"
	"riskdex/report"
)

// write sends changes to the alias, or during a take-over to the new index alone.
func (x *Indexer) write(ctx context.Context, t task, batch []prepared, out *outcome) []judgement {
	to := destination{x.indices.Alias(t.kind), true}
	if t.target != nil {
		to = destination{t.target.index, false}
	}
	all := func(int) bool { return true }
	sent, index := x.sendSome(ctx, t.kind, to, batch, all)
	x.resolveConflicts(ctx, to.name, batch, sent)
	x.confirm(ctx, to.name, batch, sent)
	judgements := present(sent)
	if to.alias {
		out.wrote, out.shown = index, anyTaken(sent)
	}
	out.trouble = troubleIn(judgements)
	return judgements
}

// troubleIn returns why the lane must wait: the first change that pauses the index, or, if
// nothing in the bulk made progress, the first that failed. It returns nil if single changes may
// wait by themselves.
func troubleIn(judgements []judgement) *judgement {
	progress := false
	var failed *judgement
	for i, j := range judgements {
		switch j.verdict {
		case elastic.Pause:
			return &judgements[i]
		case elastic.Retry, elastic.Bisect:
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

// sendSome sends the wanted changes of batch, and returns a judgement for each at its position.
func (x *Indexer) sendSome(ctx context.Context, kind report.Kind, to destination, batch []prepared, wanted func(i int) bool) (judgements []*judgement, index string) {
	judgements = make([]*judgement, len(batch))
	var part []prepared
	var places []int
	for i, p := range batch {
		switch {
		case !wanted(i):
		case p.refused != nil:
			refused := *p.refused
			judgements[i] = &refused
		default:
			part, places = append(part, p), append(places, i)
		}
	}
	sent, index := x.send(ctx, kind, to, part)
	for n, i := range places {
		judgements[i] = &sent[n]
	}
	return judgements, index
}

// present returns the judgements that are not nil.
func present(judgements []*judgement) []judgement {
	var all []judgement
	for _, j := range judgements {
		if j != nil {
			all = append(all, *j)
		}
	}
	return all
}

func count(judgements []*judgement) int { return len(present(judgements)) }

func anyTaken(judgements []*judgement) bool {
	return slices.ContainsFunc(judgements, func(j *judgement) bool { return j != nil && j.taken() })
}

func anyOver(judgements []*judgement) bool {
	for _, j := range judgements {
		if j != nil && j.over() {
			return true
		}
	}
	return false
}
