package report

import "time"

// Outcome is what became of a change.
type Outcome string

// Every accepted change ends as exactly one of the first four. Retry is not an end: the
// change stays pending and can be claimed again.
const (
	Indexed    Outcome = "indexed"
	Deleted    Outcome = "deleted"
	Superseded Outcome = "superseded" // a newer version of the document arrived before this one was settled
	Dead       Outcome = "dead"       // Elasticsearch refuses the document; it is set aside as a dead letter
	Retry      Outcome = "retry"
)

// Outcomes returns the four final outcomes, always in the same order.
func Outcomes() []Outcome { return []Outcome{Indexed, Deleted, Superseded, Dead} }

// Debounce is how long nothing must have been delivered for a document that was overtaken
// on its way before it is sent again. A delivery that is corrected once goes at once; a
// document that changes all the time waits for [Settlement.NotBefore].
const Debounce = 100 * time.Millisecond

// Settlement is what became of a claimed change.
type Settlement struct {
	Key
	Version Version
	Outcome Outcome

	// NotBefore defers the document: the change itself after Retry, and a newer version
	// if one is waiting by now. It is not claimed before that time, with one exception: after any
	// outcome but Retry, a newer version is claimed as soon as no other has come for [Debounce].
	// The zero time means at once.
	NotBefore time.Time

	// ErrorType and Reason say why the outcome is Dead or Retry: the `type` of
	// Elasticsearch's error, and a sentence for people.
	ErrorType string
	Reason    string
}
