package indexer

import (
	"errors"

	"riskdex/elastic"
	"riskdex/report"
)

// judgement is a verdict on a change, with its reason.
type judgement struct {
	verdict elastic.Verdict
	reason  string // one word of failureReasons, for metrics; empty for settled and superseded
	answer  elastic.Answer
	alone   bool // it was alone in a bulk that failed as a whole
}

// over reports whether the change is done: Elasticsearch has it, or will never accept it.
func (j *judgement) over() bool { return j.taken() || j.verdict == elastic.Dead }

// away reports whether Elasticsearch seems to be away.
func (j *judgement) away() bool {
	return j.reason == elastic.ReasonUnreachable || j.reason == elastic.ReasonUnavailable
}

// byItself reports whether the change failed by itself and has to wait by itself: it was alone in
// its bulk, or had an answer of its own.
func (j *judgement) byItself() bool { return j.verdict == elastic.Retry && (j.alone || j.ofItems()) }

// ofItems reports whether Elasticsearch answers, and is not overloaded, but fails with an error for
// the single change.
func (j *judgement) ofItems() bool {
	return j.verdict == elastic.Retry && j.answer.Level == elastic.LevelItem && j.answer.Status >= 500
}

// holds reports whether nothing can be written until somebody changes something: a pause, or answers
// that never say what was done.
func (j *judgement) holds() bool {
	return j.verdict == elastic.Pause || j.reason == elastic.ReasonUnclear
}

// taken reports whether Elasticsearch has the change, or a newer one.
func (j *judgement) taken() bool {
	return j.verdict == elastic.Settled || j.verdict == elastic.Superseded
}

// Why a change was not settled, in addition to the reasons of package elastic.
const (
	reasonVersion = errorTypeOutOfReach
	reasonDied    = "elasticsearch_died"
	reasonJournal = report.WaitsForJournal
)

// failureReasons returns all values of the label `reason` of the metrics.
func failureReasons() []string {
	return append(elastic.Reasons(), reasonVersion, reasonDied, reasonJournal)
}

// judge judges the answer to a change.
func judge(a elastic.Answer) judgement {
	verdict, reason := elastic.Classify(a)
	return judgement{verdict: verdict, reason: reason, answer: a}
}

// judgeError judges the error of a request other than a bulk.
func judgeError(err error) judgement {
	verdict, reason, answer := elastic.ClassifyError(err)
	if _, unsafe := errors.AsType[unsafeError](err); unsafe || errors.Is(err, report.ErrLossOpen) || errors.Is(err, report.ErrSeveralClusters) {
		verdict = elastic.Pause
	}
	return judgement{verdict: verdict, reason: reason, answer: answer}
}
