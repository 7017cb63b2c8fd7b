package elastic

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"riskdex/report"
)

// Verdict is what an answer means for a change.
type Verdict int

// The verdicts. Classify returns all of them but IndexAhead, which takes a lookup in the
// index.
const (
	Settled    Verdict = iota // Elasticsearch has the change
	Superseded                // Elasticsearch has this version of the document or a newer one
	Retry                     // temporary trouble: send the change again later
	Pause                     // nothing can be written until somebody changes the index or Elasticsearch
	Dead                      // this document will always be refused
	Bisect                    // the request is refused as a whole, perhaps because of one document in it
	IndexAhead                // the index has a newer version, which is not from this journal
)

func (v Verdict) String() string {
	return [...]string{"settled", "superseded", "retry", "pause", "dead", "bisect", "overtaken"}[v]
}

// Level says what an answer is about.
type Level int

// The levels.
const (
	LevelItem      Level = iota // one change of a bulk that was answered
	LevelRequest                // a request as a whole, which failed
	LevelTransport              // no answer, or one that broke off
	LevelUnclear                // an answer that does not say whether it was done
)

// Answer is what matters for a change in an answer of Elasticsearch, or in the lack of one.
type Answer struct {
	Level     Level
	Status    int       // HTTP status of the request or the item; 0 for LevelTransport
	ErrorType string    // `error.type`; empty if there was none
	Detail    string    // `error.reason`, or the error of the transport
	Op        report.Op // of the item
}

// AnswerOf returns the answer behind an error of [Client.Ask], or of a method that uses it. If
// the error body is not Elasticsearch's, such as that of a proxy, the answer has only the status.
func AnswerOf(err error) Answer {
	if _, unclear := errors.AsType[*UnclearError](err); unclear {
		return Answer{Level: LevelUnclear, Detail: err.Error()}
	}
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
	ReasonFieldLimit   = "field_limit"
	ReasonUnauthorized = "unauthorized"
	ReasonRequest      = "request_refused"
	ReasonPipeline     = "pipeline_missing"
	ReasonTooLarge     = "too_large"
	ReasonDocument     = "document_refused"
	ReasonUnclear      = "answer_unclear"
	ReasonUnknown      = "unknown"

	// ReasonAnotherJournal: the index is filled from another journal.
	ReasonAnotherJournal = "another_journal"
	// ReasonAlias: the alias that apps search leads elsewhere, and no index is known to be the one
	// to write to.
	ReasonAlias = "alias_wrong"
)

// Reasons returns all reasons that Classify and ClassifyError return.
func Reasons() []string {
	return []string{
		ReasonUnreachable, ReasonOverloaded, ReasonUnavailable, ReasonBlocked, ReasonMissing, ReasonClosed,
		ReasonFieldLimit, ReasonUnauthorized, ReasonRequest, ReasonPipeline, ReasonTooLarge,
		ReasonDocument, ReasonUnclear, ReasonUnknown, ReasonAnotherJournal, ReasonAlias,
	}
}

// ClassifyError classifies the error of a request other than a bulk, by the same rules. There
// is not a document that could be the cause, so it never returns Dead or Bisect.
func ClassifyError(err error) (Verdict, string, Answer) {
	if errors.Is(err, report.ErrAnotherJournal) {
		return Pause, ReasonAnotherJournal, Answer{Level: LevelRequest, Detail: err.Error()}
	}
	if wrong, ok := errors.AsType[*report.WrongAlias](err); ok {
		return Pause, ReasonAlias, Answer{Level: LevelRequest, Detail: wrong.Error()}
	}
	a := AnswerOf(err)
	a.Detail = err.Error() // including what was tried
	v, reason := Classify(a)
	if v == Bisect || v == Dead {
		v = Pause
	}
	return v, reason, a
}

// Classify is the one place that decides what an answer means. The reason is one of
// [Reasons], or empty for Settled and Superseded.
//
// The status alone does not distinguish a refused document from a closed index, so the error
// type counts first. Whatever is unknown is retried: sending a change twice does no harm,
// setting one aside by mistake does.
func Classify(a Answer) (Verdict, string) {
	switch a.Level {
	case LevelTransport:
		return Retry, ReasonUnreachable
	case LevelUnclear:
		return Retry, ReasonUnclear
	}
	if v, reason, ok := decideByType(a); ok {
		return v, reason
	}
	switch {
	case a.Level == LevelItem && a.ErrorType == "" && slices.Contains(slices.Collect(maps.Values(results[a.Op])), a.Status):
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
		// A redirect, 404 or 405 from the bulk endpoint: this is not Elasticsearch, or not
		// its path.
		return Pause, ReasonRequest
	case a.Status == http.StatusBadRequest && a.ErrorType != "":
		return Dead, ReasonDocument
	}
	return Retry, ReasonUnknown
}

// VersionConflict is the error type of a write whose version is not newer than the index's.
const VersionConflict = "version_conflict_engine_exception"

// decideByType decides by the error types whose meaning does not depend on the status, which
// has changed between releases.
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
	case strings.Contains(a.Detail, "pipeline with id ["):
		// The ingest pipeline of the index is missing. The status is 400, which would
		// otherwise make every document a dead letter.
		return Pause, ReasonPipeline, true
	case strings.Contains(a.Detail, "Limit of total fields"):
		return Pause, ReasonFieldLimit, true
	}
	return 0, "", false
}
