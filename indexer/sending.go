package indexer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"riskdex/elastic"
	"riskdex/report"
)

// sending is one batch on its way to one index. That is usually one bulk. It is more if one
// document may be the cause of a failure:
//
//   - A bulk that is refused as a whole is sent in halves, until the cause is alone.
//   - After a bulk that failed in another way, the task sends nothing more, since each bulk may
//     take a whole timeout. Its changes go in smaller bulks the next time (failing).
//   - A change that goes alone comes last. It becomes a dead letter only if Elasticsearch read
//     other bulks directly before (alone).
type sending struct {
	x     *Indexer
	kind  report.Kind
	to    string // the index
	batch []prepared

	judgements []judgement // of batch
	refused    []int       // positions of changes that were refused alone
	taken      bool        // Elasticsearch accepted some
	read       bool        // some were answered one by one
	justRead   bool        // by the last bulk
	stop       *judgement  // why nothing more is sent; nil otherwise
}

const (
	// blameAfter is how often in a row a document must be at fault before it becomes a dead
	// letter: refused for its size, or sent when Elasticsearch died, which may have
	// another cause.
	blameAfter = 3
	// blameUnsaidAfter is the same for a refusal without a reason. One of two proxies before
	// Elasticsearch may be broken. If several lanes send in turn, that refuses any document
	// half of the time, and one in sixteen three times in a row, with a successful bulk
	// afterwards.
	blameUnsaidAfter = 12
)

func refusalsToBlame(whole judgement) int {
	if whole.reason == elastic.ReasonTooLarge {
		return blameAfter
	}
	return blameUnsaidAfter
}

// plausiblySmall is a size below any plausible limit of a request: the defaults are 100 MB in
// Elasticsearch and 1 MiB in nginx, and the smallest known limit of anything that forwards JSON
// is 100 kB. If less is refused as too large, something on the way is broken. So it is for a
// delete, which has no content.
const plausiblySmall = 64 << 10

// send sends batch to an index and judges every change in it.
func (x *Indexer) send(ctx context.Context, kind report.Kind, to string, batch []prepared) []judgement {
	s := &sending{x: x, kind: kind, to: to, batch: batch, judgements: make([]judgement, len(batch))}
	together, alone := x.failing.bulks(batch)
	for _, places := range together {
		s.together(ctx, places)
	}
	for _, i := range slices.Concat(alone, s.refused) {
		s.alone(ctx, i)
	}
	return s.judgements
}

// together sends changes in one bulk.
func (s *sending) together(ctx context.Context, places []int) {
	if s.leave(places...) {
		return
	}
	whole, ok, _ := s.send(ctx, false, places...)
	switch {
	case ok:
		var sent []judgement
		for _, i := range places {
			sent = append(sent, s.judgements[i])
		}
		s.stop = troubleIn(sent)
	case whole.verdict == elastic.Bisect && len(places) > 1:
		for half := range slices.Chunk(places, (len(places)+1)/2) {
			s.together(ctx, half)
		}
	case whole.verdict == elastic.Bisect:
		if j := s.pending(places[0], whole); s.read {
			s.refused = append(s.refused, places[0])
		} else { // perhaps all requests are refused
			s.stop = j
		}
	case len(places) > 1:
		s.x.failing.together(s.changes(places))
		s.failed(whole, places...)
	default:
		s.x.failing.alone(s.batch[places[0]].change, whole.away(), 0, false)
		s.failed(whole, places...)
	}
}

// alone sends a change that may be the cause in a bulk of its own. The change becomes a dead
// letter if
//
//   - it is refused often enough in a row (refusalsToBlame), Elasticsearch reads the bulks
//     directly before and after, even if only to test that (sendCanary), and the change may be
//     the cause (mayBlame); or
//   - Elasticsearch died three times in a row while it was sent nothing but this change, and
//     its index had just answered.
func (s *sending) alone(ctx context.Context, i int) {
	if s.leave(i) {
		return
	}
	c := s.batch[i].change
	var before generation
	only := false
	if s.x.failing.silent(c) {
		var ok bool
		if before, ok = s.ready(ctx, c); !ok {
			s.leave(i)
			return
		}
		var deaths int
		if deaths, only = s.x.failing.blame(c, before); deaths >= blameAfter {
			s.judgements[i] = diedOf(deaths)
			return
		}
		if only {
			s.x.log.WarnContext(ctx, "Elasticsearch died when it was sent this document alone: it is sent once more, while nothing else is",
				"kind", c.Kind, "id", c.ID, "version", c.Version, "in_a_row", deaths)
		}
	}
	seen := s.justRead
	for refusals := 0; ; {
		whole, ok, wasOnly := s.send(ctx, only, i)
		switch {
		case ok:
			s.stop = troubleIn(s.judgements[i : i+1])
			return
		case whole.verdict != elastic.Bisect:
			s.x.failing.alone(c, whole.away(), before, wasOnly)
			s.failed(whole, i)
			return
		case !s.mayBlame(whole, i):
			if j := s.pending(i, whole); !s.read {
				s.stop = j
			}
			return
		case !seen:
			if seen = s.sendCanary(ctx); !seen {
				s.pending(i, whole)
				return
			}
		default:
			if refusals++; refusals < refusalsToBlame(whole) {
				continue
			}
			if !s.sendCanary(ctx) {
				s.pending(i, whole)
				return
			}
			whole.verdict = elastic.Dead
			s.judgements[i] = whole
			return
		}
	}
}

// ready returns the generation of Elasticsearch, after the index has answered a lookup of the
// change: a bulk to an index that is not ready may wait until Elasticsearch dies of something
// else.
func (s *sending) ready(ctx context.Context, c report.Change) (generation, bool) {
	now, err := s.x.generation(ctx)
	if err != nil {
		if judge(elastic.AnswerOf(err)).verdict != elastic.Pause {
			s.cannotAsk(err)
			return 0, false
		}
		s.x.noNodes.Do(func() {
			s.x.log.WarnContext(ctx, "Elasticsearch does not say which nodes it has: a document that makes it die is not recognised. Grant riskdex the privilege monitor of the cluster",
				"detail", elastic.AnswerOf(err).Detail)
		})
	}
	if _, err := s.x.client.Versions(ctx, s.to, []report.ID{c.ID}); err != nil {
		s.cannotAsk(err)
		return now, false
	}
	return now, true
}

func (s *sending) cannotAsk(err error) {
	j := judge(elastic.AnswerOf(err))
	if j.verdict != elastic.Pause {
		j.verdict = elastic.Retry
	}
	s.stop = &j
}

// sendCanary deletes a document that does not exist, with a version older than any. The answer
// shows whether Elasticsearch reads requests now. It does not use the id of the change, which may
// be what is refused.
func (s *sending) sendCanary(ctx context.Context) bool {
	nothing, err := s.x.prepare(report.Change{Key: report.Key{Kind: s.kind, ID: "riskdex"}, Op: report.Delete, Version: 1})
	if err != nil {
		return false
	}
	_, _, err = s.bulk(ctx, false, []prepared{nothing})
	if err != nil {
		s.cannotAsk(err)
	}
	return err == nil
}

// mayBlame reports whether a change may be the cause of a refusal of its bulk. A refusal for a
// plausible size speaks for itself. Any other refusal may be about all documents, unless
// Elasticsearch accepted others: in this task, or of this kind since then.
func (s *sending) mayBlame(whole judgement, i int) bool {
	p := s.batch[i]
	if whole.reason == elastic.ReasonTooLarge {
		return p.change.Op != report.Delete && len(p.lines) >= plausiblySmall
	}
	return s.taken || s.x.failing.othersTaken(p.change)
}

// send sends changes in one bulk, and judges them if it was answered; otherwise whole says why
// not. wasOnly reports whether no other bulk was under way, which only ensures.
func (s *sending) send(ctx context.Context, only bool, places ...int) (whole judgement, ok, wasOnly bool) {
	part := make([]prepared, len(places))
	for n, i := range places {
		part[n] = s.batch[i]
	}
	items, wasOnly, err := s.bulk(ctx, only, part)
	if err != nil {
		return judge(elastic.AnswerOf(err)), false, wasOnly
	}
	taken := false
	for n, i := range places {
		s.judgements[i] = judge(items[n])
		taken = taken || s.judgements[i].taken()
	}
	s.taken = s.taken || taken
	s.x.failing.answered(s.kind, s.changes(places), taken)
	return judgement{}, true, wasOnly
}

func (s *sending) bulk(ctx context.Context, only bool, part []prepared) (items []elastic.Answer, wasOnly bool, err error) {
	end := s.x.traffic.begin(only)
	started := time.Now()
	carrying, endSpan := s.x.startBulk(ctx, s.kind, s.to, part)
	items, err = s.x.bulk(carrying, s.to, part)
	endSpan(err)
	ok := err == nil
	s.x.metrics.sent(s.kind, len(part), time.Since(started), ok || answersRequests(err))
	s.justRead, s.read = ok, s.read || ok
	return items, end(), err
}

// answersRequests reports whether an error is an answer that shows that Elasticsearch is up.
func answersRequests(err error) bool {
	a := elastic.AnswerOf(err)
	return a.Level == elastic.LevelUnclear || a.Level == elastic.LevelRequest && a.Status < 500
}

// leave judges changes that are no longer sent like the failure that stopped the task.
func (s *sending) leave(places ...int) bool {
	if s.stop == nil {
		return false
	}
	for _, i := range places {
		s.judgements[i] = *s.stop
		s.judgements[i].alone = false
	}
	return true
}

// failed notes that a bulk was neither accepted nor refused, and ends the task. If other bulks
// were answered, only these changes wait, not the index.
func (s *sending) failed(whole judgement, places ...int) {
	if s.read {
		whole.verdict = elastic.Retry
	}
	s.stop = &whole
	for _, i := range places {
		s.judgements[i] = whole
		s.judgements[i].alone = len(places) == 1
	}
}

// pending lets a change wait that was refused alone, and may or may not be the cause.
func (s *sending) pending(i int, whole judgement) *judgement {
	s.x.failing.alone(s.batch[i].change, false, 0, false)
	whole.verdict, whole.alone = elastic.Retry, true
	s.judgements[i] = whole
	return &whole
}

func (s *sending) changes(places []int) []report.Change {
	all := make([]report.Change, len(places))
	for n, i := range places {
		all[n] = s.batch[i].change
	}
	return all
}

func diedOf(deaths int) judgement {
	return judgement{verdict: elastic.Dead, reason: reasonDied, answer: elastic.Answer{
		ErrorType: "riskdex_elasticsearch_died",
		Detail: fmt.Sprintf("Elasticsearch died %d times in a row when it was sent this document, and nothing else of riskdex: "+
			"it may be more than its memory can take. Have a smaller one delivered, or give Elasticsearch more memory and retry it", deaths),
	}}
}
