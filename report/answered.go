package report

import "time"

// Answered describes a delivery, or another request, that the receiver answered.
type Answered struct {
	At       time.Time `json:"at"`
	Kind     Kind      `json:"kind"`               // empty if the path named none
	Sender   string    `json:"sender,omitempty"`   // the name of the credential, if any, of what was accepted
	ID       string    `json:"id,omitempty"`       // of the document, or of the first of several, if known
	Path     string    `json:"path,omitempty"`     // only if it is not that of a delivery
	Method   string    `json:"method"`             // of the request; may be any text
	Status   int       `json:"status"`             // of the answer
	Reason   string    `json:"reason,omitempty"`   // one word, if nothing was accepted
	Accepted int       `json:"accepted"`           // documents
	Refused  int       `json:"refused"`            // single records
	Delivery string    `json:"delivery,omitempty"` // its name, if anything was accepted
}
