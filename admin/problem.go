package admin

import (
	"encoding/json"
	"errors"
	"net/http"

	"riskdex/report"
	"riskdex/search"
)

// Problem is an answer other than success: problem details as in RFC 9457.
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`           // a sentence for people: what is wrong, where, and what to do
	Reason string `json:"reason,omitempty"` // one word, if it may matter to programs
}

func (p *Problem) Error() string { return p.Detail }

func badRequest(detail string) *Problem {
	return &Problem{Status: http.StatusBadRequest, Detail: detail}
}

func notFound(detail string) *Problem {
	return &Problem{Status: http.StatusNotFound, Detail: detail}
}

// problemOf turns any error into an answer. One that is not known is of the journal or of
// Elasticsearch, and may pass.
func problemOf(err error) *Problem {
	var p *Problem
	var mistake *search.Mistake
	var refused interface {
		Refused() (reason, detail string)
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &mistake):
		return badRequest(mistake.Error() + ".")
	case errors.As(err, &refused):
		reason, detail := refused.Refused()
		return &Problem{Status: http.StatusUnprocessableEntity, Reason: reason, Detail: detail}
	case errors.As(err, &tooLarge):
		return &Problem{Status: http.StatusRequestEntityTooLarge,
			Detail: "The edited body is larger than a delivery may be. Let the operator raise --max-body."}
	case errors.Is(err, report.ErrNotFound):
		return notFound("It is not there, or no longer: it was retried, dropped or dropped out, or a newer delivery has taken its place.")
	case errors.Is(err, report.ErrLossOpen):
		return &Problem{Status: http.StatusConflict, Reason: ReasonLossOpen, Detail: err.Error()}
	}
	return &Problem{Status: http.StatusServiceUnavailable, Detail: err.Error()}
}

// retryAfter is how many seconds a client should wait before it repeats a call that cannot be
// answered now.
const retryAfter = "5"

func writeProblem(w http.ResponseWriter, p *Problem) {
	if p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	complete := *p
	complete.Title = http.StatusText(p.Status)
	writeJSON(w, p.Status, "application/problem+json", complete)
}

func writeJSON(w http.ResponseWriter, status int, contentType string, v any) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// The only errors are those of a client that is gone.
	_ = newEncoder(w).Encode(v)
}

// newEncoder returns an encoder that does not escape <, > and &: nothing here ends up in HTML.
func newEncoder(w http.ResponseWriter) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}
