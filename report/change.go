package report

import "time"

// Op is what a change does to its document.
type Op string

// The operations. A publisher's create and update are both Index: the newest
// body replaces whatever was there.
const (
	Index  Op = "index"
	Delete Op = "delete"
)

// Ops returns every operation, always in the same order.
func Ops() []Op { return []Op{Index, Delete} }

// Version orders the changes of a document: the higher one is newer. It is
// positive, assigned by the journal, unique within it, and sent to
// Elasticsearch as the document's external version.
type Version int64

// Key names a document.
type Key struct {
	Kind Kind
	ID   ID
}

// Change is one document's part of a delivery: what its new body is, or that
// it is gone. Changes are values; whoever holds one does not write to Body.
type Change struct {
	Key
	Op Op

	// Code is the code that a city answers to besides its id, in upper case;
	// empty when its body states none, and for the other kinds.
	Code string

	// OwnID is the id in the body of a change that was addressed by path, where
	// the body says that the path names the city by its code. The journal uses
	// it when it knows no document under ID. Otherwise it is empty.
	OwnID ID

	// Version and AcceptedAt are zero until the journal has assigned them.
	Version    Version
	AcceptedAt time.Time

	// Body is the record as it was delivered: valid JSON, byte for byte. It is
	// nil when Op is Delete.
	Body []byte
}

// Delivery is what one request of the publisher carried. The journal takes all
// of it or nothing.
type Delivery struct {
	Changes  []Change
	Refusals []Refusal
}

// Stamp is what the journal made of one change: the document that it is for,
// which differs from the one addressed where a city was named by its code, and
// its version.
type Stamp struct {
	Key
	Version Version
}

// Refusal is a delivery, or one record of it, that was not accepted. It is kept
// for inspection.
type Refusal struct {
	At       time.Time
	Kind     Kind   // empty when the path named none
	Method   string // of the request
	Path     string // of the request, percent-encoded as it came
	Position int    // of the record in the delivery, from 0; -1 when all of it was refused
	ID       string // as far as it is known
	Reason   string // one word of a fixed set, the label of the metric
	Detail   string // a sentence for people: what is wrong, where, what to do
	Body     []byte // as far as it was read, not necessarily JSON
}
