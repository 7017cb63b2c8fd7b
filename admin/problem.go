package admin

import (
	"errors"
	"net/http"

	"riskdex/internal/problem"
	"riskdex/report"
	"riskdex/search"
)

// Problem is an answer other than success: problem details as in RFC 9457.
type Problem = problem.Problem

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

func writeProblem(w http.ResponseWriter, p *Problem) { problem.Write(w, p) }

func writeJSON(w http.ResponseWriter, status int, contentType string, v any) {
	problem.WriteJSON(w, status, contentType, v)
}
