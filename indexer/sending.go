package indexer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"riskdex/elastic"
	"riskdex/report"
)

// sending is one batch on its way to one index. As a rule that is one bulk. It is more
// where a document may spoil those of others:
//
//   - A bulk that is refused as a whole is sent in halves, until what spoils it is alone.
//   - After one that failed in another way nothing more is sent in this task, since each
//     may take a whole time-out. Its changes go in smaller bulks the next time (failing).
//   - What goes alone comes last, and becomes a dead letter only by what it does when
//     others were read directly before (alone).
type sending struct {
	x     *Indexer
	kind  report.Kind
	to    destination
	batch []prepared

	judgements []judgement // of batch
	index      string      // that they went to, as far as the answers say
	refused    []int       // places of the changes that were refused alone
	taken      bool        // some were taken
	read       bool        // some were answered one by one
	justRead   bool        // by the last bulk
	stop       *judgement  // why nothing more is sent; nil while more is
}

const (
	// blameAfter is how often in a row a document must do what is its own fault before it
	// becomes a dead letter: be refused for its size, or have Elasticsearch die, which may
	// die of something else.
	blameAfter = 3
	// blameUnsaidAfter is the same for a refusal that does not say what it is about. What
	// stands before Elasticsearch may be two proxies of which one is wrong. Where several
	// lanes send by turns, that refuses any document half of the time, and one in sixteen
	// three times in a row with a bulk that is read after.
	blameUnsaidAfter = 12
)

func refusalsToBlame(whole judgement) int {
	if whole.reason == elastic.ReasonTooLarge {
		return blameAfter
	}
	return blameUnsaidAfter
}

// plausiblySmall is what no limit of a request can mean: neither Elasticsearch (100 MB)
// nor a proxy (nginx: 1 MiB) is anywhere near it by default, and the smallest known
// limit of anything that passes JSON on is 100 kB. Where less is too large, the fault is
// on the way, and so it is with a delete, which has no content.
const plausiblySmall = 64 << 10

// send sends batch and judges every change in it. It also returns the index that they
// went to, as far as the answers say.
func (x *Indexer) send(ctx context.Context, kind report.Kind, to destination, batch []prepared) (judgements []judgement, index string) {
	s := &sending{x: x, kind: kind, to: to, batch: batch, judgements: make([]judgement, len(batch))}
	together, alone := x.failing.bulks(batch)
	for _, places := range together {
		s.together(ctx, places)
	}
	for _, i := range slices.Concat(alone, s.refused) {
		s.alone(ctx, i)
	}
	return s.judgements, s.index
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

// alone sends a change that may be to blame in a bulk of its own. It becomes a dead
// letter
//
//   - when it is refused again and again in a row (refusalsToBlame), and the bulks directly
//     before and after are read, be they sent just to see that (sendCanary), and it may be to
//     blame (mayBlame);
//   - when Elasticsearch has died three times in a row while nothing but this change
//     was on its way to it, and its index had just answered.
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

// ready returns the generation of Elasticsearch, once the index has answered for a
// change: what is sent to one that is not ready may wait until Elasticsearch dies of
// something else.
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
	if _, err := s.x.client.Versions(ctx, s.to.name, []report.ID{c.ID}); err != nil {
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

// sendCanary has the index delete a document that there is not, in a version that is older than
// any should there be one. The answer shows that requests are read at this moment. The id
// of the change itself may be what is refused.
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

// mayBlame tells whether a change may be what a refusal of its bulk is about. One for
// its size speaks for itself, if the size is plausible. Any other may be meant for all
// documents, unless some were taken: of this task, or of this kind since then.
func (s *sending) mayBlame(whole judgement, i int) bool {
	p := s.batch[i]
	if whole.reason == elastic.ReasonTooLarge {
		return p.change.Op != report.Delete && len(p.lines) >= plausiblySmall
	}
	return s.taken || s.x.failing.othersTaken(p.change)
}

// send sends changes in one bulk. If it was answered they are judged; otherwise whole
// says why not. wasOnly tells whether no other bulk was under way, which only sees to.
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
	items, index, err := s.x.bulk(carrying, s.to, part)
	endSpan(err)
	ok := err == nil
	s.x.metrics.sent(s.kind, len(part), time.Since(started), ok || answersRequests(err))
	s.justRead, s.read = ok, s.read || ok
	s.index = cmp.Or(index, s.index)
	return items, end(), err
}

// answersRequests tells of an error whether Elasticsearch is there and has answered.
func answersRequests(err error) bool {
	a := elastic.AnswerOf(err)
	return a.Level == elastic.LevelRequest && a.Status < 500
}

// leave judges changes that are not sent, because nothing more is, like what failed.
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

// failed notes that a bulk was neither taken nor refused, and ends the task. Where
// others were answered, it is these changes that have to wait, not the index.
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

// pending has a change wait that is refused alone, and may be to blame or not.
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
