package indexer

import (
	"errors"

	"riskdex/elastic"
)

// judgement is a verdict and what led to it.
type judgement struct {
	verdict elastic.Verdict
	reason  string // one word of failureReasons, for metrics; empty for settled and superseded
	answer  elastic.Answer
	alone   bool // it was alone in a bulk that failed as a whole
}

// over tells whether nothing is left to be done: Elasticsearch has the change, or
// will never take it.
func (j *judgement) over() bool { return j.taken() || j.verdict == elastic.Dead }

// away tells whether Elasticsearch seems not to be there.
func (j *judgement) away() bool {
	return j.reason == elastic.ReasonUnreachable || j.reason == elastic.ReasonUnavailable
}

// byItself tells whether a change failed by itself, so that it is the one to wait:
// it was alone in its bulk, or answers come for each.
func (j *judgement) byItself() bool { return j.verdict == elastic.Retry && (j.alone || j.ofItems()) }

// ofItems tells whether Elasticsearch answers, and is not overloaded, but fails at
// the changes one by one.
func (j *judgement) ofItems() bool {
	return j.verdict == elastic.Retry && j.answer.Level == elastic.LevelItem && j.answer.Status >= 500
}

// taken tells whether Elasticsearch has the change, or a newer one.
func (j *judgement) taken() bool {
	return j.verdict == elastic.Settled || j.verdict == elastic.Superseded
}

// Why a change was not settled, beside the reasons that Elasticsearch gives.
const (
	reasonVersion = errorTypeOutOfReach
	reasonDied    = "elasticsearch_died"
	reasonJournal = "journal"
)

// failureReasons returns all values of the label `reason` of the metrics.
func failureReasons() []string {
	return append(elastic.Reasons(), reasonVersion, reasonDied, reasonJournal)
}

func judge(a elastic.Answer) judgement {
	verdict, reason := elastic.Classify(a)
	return judgement{verdict: verdict, reason: reason, answer: a}
}

// judgeError judges why something other than a bulk failed.
func judgeError(err error) judgement {
	verdict, reason, answer := elastic.ClassifyError(err)
	if _, unsafe := errors.AsType[unsafeError](err); unsafe {
		verdict = elastic.Pause
	}
	return judgement{verdict: verdict, reason: reason, answer: answer}
}
