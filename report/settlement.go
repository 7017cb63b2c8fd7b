package report

import "time"

// Outcome is what became of a change.
type Outcome string

// Every accepted change ends as exactly one of the first four. Retry is not an end: the
// change stays pending and can be claimed again.
const (
	Indexed    Outcome = "indexed"
	Deleted    Outcome = "deleted"
	Superseded Outcome = "superseded" // a newer version arrived before this one was settled, or Elasticsearch has one
	Dead       Outcome = "dead"       // Elasticsearch refuses the document; it is set aside as a dead letter
	Retry      Outcome = "retry"
)

// Outcomes returns the four final outcomes, always in the same order.
func Outcomes() []Outcome { return []Outcome{Indexed, Deleted, Superseded, Dead} }

// Debounce is the time without a delivery after which a document that was overtaken while it was
// sent is sent again. So a single correction is sent almost at once, and a document that changes
// all the time waits for [Settlement.NotBefore].
const Debounce = 100 * time.Millisecond

// Settlement is what became of a claimed change.
type Settlement struct {
	Key
	Version Version
	Outcome Outcome

	// NotBefore is the earliest time at which the document can be claimed again: the change
	// itself after Retry, or a newer version. After other outcomes than Retry, a newer version
	// can be claimed earlier: once nothing was delivered for [Debounce]. Zero means at once.
	NotBefore time.Time

	// ErrorType and Reason say why the outcome is Dead or Retry: the `type` of
	// Elasticsearch's error, and a sentence for people.
	ErrorType string
	Reason    string
}
