package receiver

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Why something is refused: the label `reason` of the metric, the reason in an answer and in
// a refusal that is kept.
const (
	reasonJSON      = "invalid_json"
	reasonNoID      = "missing_id"
	reasonIDTooLong = "id_too_long"
	reasonIDInvalid = "id_invalid"
	reasonNoRecord  = "no_record"
	reasonTooLarge  = "too_large"
	reasonTruncated = "truncated"
	reasonEncoding  = "unknown_encoding"
	reasonGzip      = "invalid_gzip"
	reasonType      = "unsupported_type"
	reasonMethod    = "wrong_method"
	reasonPath      = "unknown_path"
	reasonIDReused  = "id_reused"
	reasonTooSlow   = "too_slow"
	reasonTooMany   = "too_many_records"
	reasonAmbiguous = "ambiguous_code"
)

// Why a delivery cannot be accepted now, though nothing is wrong with it. These are no
// refusals.
const (
	reasonBusy     = "busy"
	reasonRate     = "too_many"
	reasonNoRoom   = "no_room"
	reasonJournal  = "journal"
	reasonInternal = "internal"
	reasonOutdated = "outdated"
)

func reasons() []string {
	return []string{
		reasonJSON, reasonNoID, reasonIDTooLong, reasonIDInvalid, reasonNoRecord,
		reasonTooLarge, reasonTruncated, reasonEncoding, reasonGzip, reasonType, reasonMethod, reasonPath, reasonIDReused,
		reasonTooSlow, reasonTooMany, reasonAmbiguous,
	}
}

// problem is the answer to a delivery that was not accepted: problem details as
// in RFC 9457.
type problem struct {
	Title   string    `json:"title"`
	Status  int       `json:"status"`
	Detail  string    `json:"detail"`
	Reason  string    `json:"reason"`
	Refused []refused `json:"refused,omitempty"` // the first

	RefusedTotal int `json:"refused_total,omitempty"`
}

func newProblem(status int, reason, detail string) *problem {
	return &problem{Title: http.StatusText(status), Status: status, Detail: detail, Reason: reason}
}

// accepted is the answer to a delivery of which at least one record is durable.
type accepted struct {
	Accepted int       `json:"accepted"`
	Refused  []refused `json:"refused"` // the first

	RefusedTotal int `json:"refused_total"`

	// Unknown has 0, the position of a DELETE, if its document does not exist.
	Unknown []int `json:"unknown,omitempty"`

	// Delivery is the name of the delivery, for riskdex delivery.
	Delivery string `json:"delivery,omitempty"`

	// Searchable is how many of Accepted a search shows, where the sender preferred to
	// wait for that.
	Searchable *int `json:"searchable,omitempty"`
}

// refused is one record of a delivery that was not accepted.
type refused struct {
	Position int     `json:"position"` // in the delivery, from 0
	ID       *string `json:"id"`       // null when it has none
	Reason   string  `json:"reason"`
	Detail   string  `json:"detail"`
}

// retryAfter is how long a sender should wait when a delivery cannot be accepted now.
const retryAfter = 5 * time.Second

func writeProblem(w http.ResponseWriter, p *problem) {
	if p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	}
	writeJSON(w, p.Status, "application/problem+json", p)
}

func writeJSON(w http.ResponseWriter, status int, contentType string, v any) {
	body, err := json.Marshal(v)
	if err != nil { // only for types of ours that JSON cannot express
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	body = append(body, '\n')
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// A sender that has hung up cannot be told anything.
	_, _ = w.Write(body)
}
