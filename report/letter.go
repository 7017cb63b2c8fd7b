package report

import "time"

// DeadLetter is a change that Elasticsearch refuses. It is set aside until a
// newer delivery of its document, a retry or a drop ends it.
type DeadLetter struct {
	Change           // its Body is nil in lists
	Bytes  int       // of its body
	DeadAt time.Time // when it was set aside

	ErrorType string // `error.type` of Elasticsearch, or a word of riskdex's own
	Reason    string // a sentence for people
}

// Entry is what the journal knows of a document besides its content.
type Entry struct {
	Stamp
	Op    Op
	State State
}

// Refused tells that Elasticsearch has refused the newest version: the index may have any
// older one, or none.
func (e Entry) Refused() bool { return e.State == StateDead || e.State == StateDropped }

// State is what has become of a document's newest version.
type State string

// The states of a document.
const (
	StatePending   State = "pending"   // not settled yet
	StateSettled   State = "settled"   // the index has it; for a delete: lacks it
	StateResending State = "resending" // settled, and to be sent once more
	StateDead      State = "dead"      // a dead letter: the index may have any older version, or none
	StateDropped   State = "dropped"   // a dead letter that was given up: the index may have any older version, or none
)
