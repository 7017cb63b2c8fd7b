// Package problem has what listeners other than that for deliveries answer: JSON, and problem details as
// in RFC 9457 where it is not what was asked for.
package problem

import (
	"encoding/json"
	"net/http"
)

// Problem is an answer other than success.
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`           // a sentence for people: what is wrong, where, and what to do
	Reason string `json:"reason,omitempty"` // one word, if it may matter to programs
}

func (p *Problem) Error() string { return p.Detail }

// RetryAfter is how many seconds a client should wait before it repeats a call that cannot be
// answered now.
const RetryAfter = "5"

// Write answers with a problem.
func Write(w http.ResponseWriter, p *Problem) {
	if p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", RetryAfter)
	}
	complete := *p
	complete.Title = http.StatusText(p.Status)
	WriteJSON(w, p.Status, "application/problem+json", complete)
}

// WriteJSON answers with v as JSON.
func WriteJSON(w http.ResponseWriter, status int, contentType string, v any) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// The only errors are those of a client that is gone.
	_ = NewEncoder(w).Encode(v)
}

// NewEncoder returns an encoder that does not escape <, > and &: nothing here ends up in HTML.
func NewEncoder(w http.ResponseWriter) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}
