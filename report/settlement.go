package report

import "time"

// Outcome is what became of a change.
type Outcome string

// Every accepted change ends as exactly one of the first four. Retry is no end:
// the change stays pending and is given out again.
const (
	Indexed    Outcome = "indexed"
	Deleted    Outcome = "deleted"
	Superseded Outcome = "superseded" // a newer version of the document was known before this one was settled
	Dead       Outcome = "dead"       // Elasticsearch refuses this document; it is set aside as a dead letter
	Retry      Outcome = "retry"
)

// Outcomes returns the four ends of a change, always in the same order.
func Outcomes() []Outcome { return []Outcome{Indexed, Deleted, Superseded, Dead} }

// Settlement says what became of a change that was claimed.
type Settlement struct {
	Key
	Version Version
	Outcome Outcome

	// NotBefore is the earliest time at which the document may be claimed again: the
	// change itself after Retry, and a newer version where one waits by now. The zero
	// time means at once.
	NotBefore time.Time

	// ErrorType and Reason say, with Dead and Retry, why: the `type` of
	// Elasticsearch's error, and a sentence for people.
	ErrorType string
	Reason    string
}
