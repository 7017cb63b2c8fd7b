package elastic

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"riskdex/report"
)

// Verdict is what an answer means for a change.
type Verdict int

// The verdicts. Classify gives all of them but Overtaken, which takes a look at what
// the index has.
const (
	Settled    Verdict = iota // Elasticsearch has it
	Superseded                // Elasticsearch has this version or a newer one
	Retry                     // trouble that passes: send it again, later
	Pause                     // the index or the operator must change first
	Dead                      // this document is refused, and will always be
	Bisect                    // refused as a whole: something in it may spoil it
	Overtaken                 // the index has something newer that did not come from this journal
)

func (v Verdict) String() string {
	return [...]string{"settled", "superseded", "retry", "pause", "dead", "bisect", "overtaken"}[v]
}

// Level says what an answer speaks of.
type Level int

// The levels.
const (
	LevelItem      Level = iota // one change of a bulk that was answered
	LevelRequest                // a request as a whole, answered with an error
	LevelTransport              // no answer, or one that cannot be read
)

// Answer is one answer of Elasticsearch, or the lack of one, as far as it
// matters for a change.
type Answer struct {
	Level     Level
	Status    int       // HTTP status of the request or the item; 0 for LevelTransport
	ErrorType string    // `error.type`, empty when there was none
	Detail    string    // `error.reason`, or what the transport said
	Op        report.Op // of the item
}

// AnswerOf returns the answer that an error of Ask, or of what is built on it, stands for.
// A proxy says whatever it likes; the status is known all the same.
func AnswerOf(err error) Answer {
	refused, ok := errors.AsType[*ResponseError](err)
	switch {
	case !ok:
		return Answer{Level: LevelTransport, Detail: err.Error()}
	case refused.Status == 0:
		return Answer{Level: LevelItem, ErrorType: refused.Type, Detail: refused.Reason}
	case refused.Type == "":
		return Answer{Level: LevelRequest, Status: refused.Status, Detail: "status " + strconv.Itoa(refused.Status)}
	}
	return Answer{Level: LevelRequest, Status: refused.Status, ErrorType: refused.Type, Detail: refused.Reason}
}

// Why a change was not settled: values of the label `reason` of the metrics.
const (
	ReasonUnreachable  = "unreachable"
	ReasonOverloaded   = "overloaded"
	ReasonUnavailable  = "unavailable"
	ReasonBlocked      = "index_blocked"
	ReasonMissing      = "index_missing"
	ReasonClosed       = "index_closed"
	ReasonNoWriteIndex = "no_write_index"
	ReasonFieldLimit   = "field_limit"
	ReasonUnauthorized = "unauthorized"
	ReasonRequest      = "request_refused"
	ReasonPipeline     = "pipeline_missing"
	ReasonTooLarge     = "too_large"
	ReasonDocument     = "document_refused"
	ReasonUnknown      = "unknown"

	// ReasonAnotherJournal: the index is filled from another journal.
	ReasonAnotherJournal = "another_journal"
)

// Reasons returns all reasons that Classify and ClassifyError give.
func Reasons() []string {
	return []string{
		ReasonUnreachable, ReasonOverloaded, ReasonUnavailable, ReasonBlocked, ReasonMissing, ReasonClosed,
		ReasonNoWriteIndex, ReasonFieldLimit, ReasonUnauthorized, ReasonRequest, ReasonPipeline, ReasonTooLarge,
		ReasonDocument, ReasonUnknown, ReasonAnotherJournal,
	}
}

// ClassifyError decides by the same rules as Classify what it means that something other
// than a bulk failed. There is no document in it that could be to blame.
func ClassifyError(err error) (Verdict, string, Answer) {
	if errors.Is(err, report.ErrAnotherJournal) {
		return Pause, ReasonAnotherJournal, Answer{Level: LevelRequest, Detail: err.Error()}
	}
	a := AnswerOf(err)
	a.Detail = err.Error() // what was tried, too
	v, reason := Classify(a)
	if v == Bisect || v == Dead {
		v = Pause
	}
	return v, reason, a
}

// Classify is the one place that decides what an answer means. It also returns why: one
// of [Reasons], or nothing for Settled and Superseded.
//
// The status alone does not tell a document that is refused from an index that is
// closed, so the error type is read first. What is not known is tried again: a change
// that is sent twice does no harm, one that is set aside wrongly does.
func Classify(a Answer) (Verdict, string) {
	if a.Level == LevelTransport {
		return Retry, ReasonUnreachable
	}
	if v, reason, ok := decideByType(a); ok {
		return v, reason
	}
	switch {
	case a.Level == LevelItem && a.ErrorType == "" && done(a.Op, a.Status):
		return Settled, ""
	case a.Status == http.StatusUnauthorized, a.Status == http.StatusForbidden:
		return Pause, ReasonUnauthorized
	case a.Status == http.StatusTooManyRequests:
		return Retry, ReasonOverloaded
	case a.Status >= 500, a.Status == http.StatusRequestTimeout:
		return Retry, ReasonUnavailable
	case a.Level == LevelRequest && a.Status == http.StatusRequestEntityTooLarge:
		return Bisect, ReasonTooLarge
	case a.Level == LevelRequest && a.Status == http.StatusBadRequest:
		return Bisect, ReasonRequest
	case a.Level == LevelRequest:
		// Redirects, 404 and 405 on the bulk endpoint: what answers is not an
		// Elasticsearch, or not at this path.
		return Pause, ReasonRequest
	case a.Status == http.StatusBadRequest && a.ErrorType != "":
		return Dead, ReasonDocument
	}
	return Retry, ReasonUnknown
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

// VersionConflict is the error type of a write that is not newer than what the index has.
const VersionConflict = "version_conflict_engine_exception"

// decideByType knows the error types that mean the same whatever the status is
// that comes with them (it has changed between releases).
func decideByType(a Answer) (Verdict, string, bool) {
	switch a.ErrorType {
	case VersionConflict:
		return Superseded, "", a.Level == LevelItem
	case "cluster_block_exception":
		return Pause, ReasonBlocked, true
	case "index_not_found_exception":
		return Pause, ReasonMissing, true
	case "index_closed_exception":
		return Pause, ReasonClosed, true
	case "security_exception":
		return Pause, ReasonUnauthorized, true
	case "not_x_content_exception":
		return Dead, ReasonDocument, a.Level == LevelItem // comes as a 500
	case "es_rejected_execution_exception", "circuit_breaking_exception":
		return Retry, ReasonOverloaded, true
	}
	switch {
	case strings.Contains(a.Detail, "no write index is defined for alias"):
		return Pause, ReasonNoWriteIndex, true
	case strings.HasPrefix(a.Detail, "pipeline with id ["):
		// The index names an ingest pipeline that is not there. It comes as a 400, and
		// without it every document would be taken for refused.
		return Pause, ReasonPipeline, true
	case strings.Contains(a.Detail, "Limit of total fields"):
		return Pause, ReasonFieldLimit, true
	}
	return 0, "", false
}
