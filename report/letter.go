package report

import "time"

// ErrorTypeDamaged is the error type of the dead letter that a record becomes if its checksum is
// wrong.
const ErrorTypeDamaged = "journal_damaged"

// DeadLetter is a change that Elasticsearch refuses. It is set aside until a newer delivery
// of its document replaces it, or somebody retries or drops it.
type DeadLetter struct {
	Change           // its Body is nil in lists
	Bytes  int       // length of its body
	DeadAt time.Time // when it was set aside

	ErrorType string // `error.type` of Elasticsearch, or one of riskdex's own
	Reason    string // a sentence for people
}

// Entry is what the journal knows about a document apart from its content.
type Entry struct {
	Stamp
	Op    Op
	State State
}

// Refused reports whether Elasticsearch has refused the newest version. The index may then
// have any older version, or none.
func (e Entry) Refused() bool { return e.State == StateDead || e.State == StateDropped }

// State is the state of a document's newest version.
type State string

// The states of a document.
const (
	StatePending   State = "pending"   // not settled yet
	StateSettled   State = "settled"   // the index has it or, after a delete, lacks it
	StateResending State = "resending" // settled before, and to be sent once more
	StateDead      State = "dead"      // a dead letter: the index may have any older version, or none
	StateDropped   State = "dropped"   // a dead letter that somebody dropped: the index may have any older version, or none
)
