package indexer

import (
	"net/http"
	"strings"

	"riskdex/report"
)

// verdict is what an answer means for a change.
type verdict int

const (
	settled    verdict = iota // Elasticsearch has it
	superseded                // Elasticsearch has this version or a newer one
	retry                     // trouble that passes: send it again, later
	hold                      // the index or the operator must change first
	dead                      // this document is refused, and will always be
	bisect                    // refused as a whole: something in it may spoil it
	overtaken                 // the index has something newer that did not come from this journal
)

func (v verdict) String() string {
	return [...]string{"settled", "superseded", "retry", "hold", "dead", "bisect", "overtaken"}[v]
}

// level says what an answer speaks of.
type level int

const (
	item      level = iota // one change of a bulk that was answered
	request                // a bulk as a whole, answered with an error
	transport              // no answer, or one that cannot be read
)

// answer is one answer of Elasticsearch, or the lack of one, as far as it
// matters for a change.
type answer struct {
	level     level
	status    int       // HTTP status of the request or the item; 0 for transport
	errorType string    // `error.type`, empty when there was none
	detail    string    // `error.reason`, or what the transport said
	op        report.Op // of the item
}

// judgement is a verdict and what led to it.
type judgement struct {
	verdict
	reason string // one word of failureReasons, for metrics; empty for settled and superseded
	answer answer
	alone  bool // it was alone in a bulk that failed as a whole
}

// over tells whether nothing is left to be done: Elasticsearch has the change, or
// will never take it.
func (j *judgement) over() bool { return j.taken() || j.verdict == dead }

// away tells whether Elasticsearch seems not to be there.
func (j *judgement) away() bool {
	return j.reason == reasonUnreachable || j.reason == reasonUnavailable
}

// byItself tells whether a change failed by itself, so that it is the one to wait:
// it was alone in its bulk, or answers come for each.
func (j *judgement) byItself() bool { return j.verdict == retry && (j.alone || j.ofItems()) }

// ofItems tells whether Elasticsearch answers, and is not overloaded, but fails at
// the changes one by one.
func (j *judgement) ofItems() bool {
	return j.verdict == retry && j.answer.level == item && j.answer.status >= 500
}

// taken tells whether Elasticsearch has the change, or a newer one.
func (j *judgement) taken() bool { return j.verdict == settled || j.verdict == superseded }

// Why a change was not settled: the label `reason` of the metrics.
const (
	reasonUnreachable  = "unreachable"
	reasonOverloaded   = "overloaded"
	reasonUnavailable  = "unavailable"
	reasonBlocked      = "index_blocked"
	reasonMissing      = "index_missing"
	reasonClosed       = "index_closed"
	reasonNoWriteIndex = "no_write_index"
	reasonFieldLimit   = "field_limit"
	reasonUnauthorized = "unauthorized"
	reasonRequest      = "request_refused"
	reasonPipeline     = "pipeline_missing"
	reasonTooLarge     = "too_large"
	reasonDocument     = "document_refused"
	reasonVersion      = errorTypeOutOfReach
	reasonUnknown      = "unknown"
	reasonDied         = "elasticsearch_died"
	reasonJournal      = "journal"

	// reasonAnotherJournal: the index is filled from another journal.
	reasonAnotherJournal = "another_journal"
)

func failureReasons() []string {
	return []string{
		reasonUnreachable, reasonOverloaded, reasonUnavailable, reasonBlocked, reasonMissing, reasonClosed,
		reasonNoWriteIndex, reasonFieldLimit, reasonUnauthorized, reasonRequest, reasonPipeline, reasonTooLarge, reasonDocument,
		reasonVersion, reasonDied, reasonUnknown, reasonJournal, reasonAnotherJournal,
	}
}

// classify is the one place that decides what an answer means. The status alone
// does not tell a document that is refused from an index that is closed, so the
// error type is read first. What is not known is tried again: a change that is
// sent twice does no harm, one that is set aside wrongly does.
func classify(a answer) judgement {
	v, reason := decide(a)
	return judgement{verdict: v, reason: reason, answer: a}
}

func decide(a answer) (verdict, string) {
	if a.level == transport {
		return retry, reasonUnreachable
	}
	if v, reason, ok := decideByType(a); ok {
		return v, reason
	}
	switch {
	case a.level == item && a.errorType == "" && done(a.op, a.status):
		return settled, ""
	case a.status == http.StatusUnauthorized, a.status == http.StatusForbidden:
		return hold, reasonUnauthorized
	case a.status == http.StatusTooManyRequests:
		return retry, reasonOverloaded
	case a.status >= 500, a.status == http.StatusRequestTimeout:
		return retry, reasonUnavailable
	case a.level == request && a.status == http.StatusRequestEntityTooLarge:
		return bisect, reasonTooLarge
	case a.level == request && a.status == http.StatusBadRequest:
		return bisect, reasonRequest
	case a.level == request:
		// Redirects, 404 and 405 on the bulk endpoint: what answers is not an
		// Elasticsearch, or not at this path.
		return hold, reasonRequest
	case a.status == http.StatusBadRequest && a.errorType != "":
		return dead, reasonDocument
	}
	return retry, reasonUnknown
}

// done tells whether a status that comes without an error says that op was carried out.
// 404 says so of a delete alone: there was nothing to delete.
func done(op report.Op, status int) bool {
	switch op {
	case report.Index:
		return status == http.StatusOK || status == http.StatusCreated
	case report.Delete:
		return status == http.StatusOK || status == http.StatusNotFound
	}
	return false
}

// versionConflict is the error type of a write that is not newer than what the index has.
const versionConflict = "version_conflict_engine_exception"

// decideByType knows the error types that mean the same whatever the status is
// that comes with them (it has changed between releases).
func decideByType(a answer) (verdict, string, bool) {
	switch a.errorType {
	case versionConflict:
		return superseded, "", a.level == item
	case "cluster_block_exception":
		return hold, reasonBlocked, true
	case "index_not_found_exception":
		return hold, reasonMissing, true
	case "index_closed_exception":
		return hold, reasonClosed, true
	case "security_exception":
		return hold, reasonUnauthorized, true
	case "not_x_content_exception":
		return dead, reasonDocument, a.level == item // comes as a 500
	case "es_rejected_execution_exception", "circuit_breaking_exception":
		return retry, reasonOverloaded, true
	}
	switch {
	case strings.Contains(a.detail, "no write index is defined for alias"):
		return hold, reasonNoWriteIndex, true
	case strings.HasPrefix(a.detail, "pipeline with id ["):
		// The index names an ingest pipeline that is not there. It comes as a 400, and
		// without it every document would be taken for refused.
		return hold, reasonPipeline, true
	case strings.Contains(a.detail, "Limit of total fields"):
		return hold, reasonFieldLimit, true
	}
	return 0, "", false
}
