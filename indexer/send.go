package indexer

import (
	"cmp"
	"context"
	"slices"
	"time"

	"riskdex/report"
)

// deliver sends changes to the alias.
func (x *Indexer) deliver(ctx context.Context, t turn, batch []prepared, out *outcome) []judgement {
	all := func(int) bool { return true }
	var shown []*judgement
	shown, out.wrote = x.sendSome(ctx, t.kind, destination{x.indices.Alias(t.kind), true}, batch, all)
	x.confirm(ctx, t.kind, batch, shown)
	judgements := present(shown)
	out.shown = anyTaken(shown)
	out.trouble = troubleIn(judgements)
	return judgements
}

// send sends batch as one bulk, in halves where something in it spoils the
// whole, and judges every change in it. It also returns the index that they went
// to, as far as the answers say.
func (x *Indexer) send(ctx context.Context, kind report.Kind, to destination, batch []prepared) (judgements []judgement, index string) {
	if len(batch) == 0 {
		return nil, ""
	}
	started := time.Now()
	carrying, end := x.startBulk(ctx, kind, to, batch)
	items, index, failure, ok := x.bulk(carrying, to, batch)
	end(failure, ok)
	x.metrics.sent(kind, len(batch), time.Since(started), ok || failure.level == request && failure.status < 500)
	judgements = make([]judgement, len(batch))
	if ok {
		for i, a := range items {
			judgements[i] = classify(a)
		}
		return judgements, index
	}
	whole := classify(failure)
	if whole.verdict == bisect && len(batch) > 1 && ctx.Err() == nil {
		half := len(batch) / 2
		first, index := x.send(ctx, kind, to, batch[:half])
		second, other := x.send(ctx, kind, to, batch[half:])
		return spoilt(append(first, second...)), cmp.Or(other, index)
	}
	if whole.verdict == bisect && whole.reason == reasonTooLarge {
		whole.verdict = dead // too large alone: it will not shrink
	}
	for i := range judgements {
		judgements[i] = whole
	}
	return judgements, ""
}

// spoilt decides for the changes that spoilt a bulk even alone. Where Elasticsearch
// has read others of the same batch it is they that are refused; where it has read
// none, the fault may as well be in every request, and no document is to blame for
// it. Only an answer to an item shows that a request was read: a failure shows
// nothing, however it came.
func spoilt(judgements []judgement) []judgement {
	read := false
	for _, j := range judgements {
		read = read || j.answer.level == item
	}
	if read {
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
func troubleIn(judgements []judgement) *judgement {
	progress := false
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

// sendSome sends those of batch that are wanted, in one bulk, and returns a
// judgement for each of them at its place.
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
	sent, index := x.sendApart(ctx, kind, to, part)
	for n, i := range places {
		judgements[i] = &sent[n]
	}
	return judgements, index
}

// sendApart is send with every suspect in a bulk of its own, after the others.
// When one bulk fails, the suspects that are left wait with it: each may take a
// whole time-out. A suspect that spoils its bulk is judged by what became of the
// others, as it would be in theirs.
func (x *Indexer) sendApart(ctx context.Context, kind report.Kind, to destination, batch []prepared) (judgements []judgement, index string) {
	judgements = make([]judgement, len(batch))
	groups := [][]int{nil} // places in batch
	for i, p := range batch {
		if x.patience.isSuspect(p.change.Key) {
			groups = append(groups, []int{i})
		} else {
			groups[0] = append(groups[0], i)
		}
	}
	var failed *judgement
	for _, places := range groups {
		group := make([]prepared, len(places))
		for n, i := range places {
			group[n] = batch[i]
		}
		var sent []judgement
		if failed == nil {
			var led string
			sent, led = x.send(ctx, kind, to, group)
			index = cmp.Or(led, index)
		}
		for n, i := range places {
			if failed != nil {
				judgements[i] = *failed
				if failed.verdict == bisect {
					judgements[i].verdict = retry // it has spoilt nothing: it was not sent
				}
				continue
			}
			judgements[i] = sent[n]
		}
		if failed == nil && len(sent) > 0 {
			failed = troubleIn(sent)
		}
	}
	return spoilt(judgements), index
}

// present returns the judgements that there are.
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
