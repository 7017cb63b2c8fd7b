package indexer

import (
	"context"
	"slices"

	"riskdex/elastic"
	"riskdex/report"
)

// write sends changes to the index that apps are to search, or during a take-over to the new one
// alone.
func (x *Indexer) write(ctx context.Context, t task, batch []prepared, out *outcome) []judgement {
	to := t.index
	if t.target != nil {
		to = t.target.index
	}
	all := func(int) bool { return true }
	sent := x.sendSome(ctx, t.kind, to, batch, all)
	x.resolveConflicts(ctx, to, batch, sent)
	x.confirm(ctx, to, batch, sent)
	judgements := present(sent)
	out.shown = t.target == nil && anyTaken(sent)
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
func (x *Indexer) sendSome(ctx context.Context, kind report.Kind, to string, batch []prepared, wanted func(i int) bool) []*judgement {
	judgements := make([]*judgement, len(batch))
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
	sent := x.send(ctx, kind, to, part)
	for n, i := range places {
		judgements[i] = &sent[n]
	}
	return judgements
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
