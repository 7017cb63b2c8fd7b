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

	// Code is the code that the record of a city states, in upper case, and NoCode is set
	// where it says that the city has none. With neither it says nothing of codes, and the
	// city keeps the one that it has.
	Code   string
	NoCode bool

	// OwnID is the id that the record of a city states as its own; empty where it states
	// none. Where it is ID, that is never read as a code; otherwise ID comes from the path,
	// and OwnID counts where the journal knows no document under that.
	OwnID ID

	// ExactID is set for changes that do not come from the publisher, to documents
	// that the journal does not know. ID is then never read as the code of a city,
	// and the change is left out if the publisher has delivered the document after
	// all, so that it overtakes nothing.
	ExactID bool

	// Version and AcceptedAt are zero until the journal has assigned them.
	Version    Version
	AcceptedAt time.Time

	// Body is the record as it was delivered: valid JSON, byte for byte. It is
	// nil when Op is Delete.
	Body []byte

	// Again tells that this version was settled before and is sent once more,
	// because an index has to be filled or mended. Only Claim sets it.
	Again bool

	// Trace names the span of the request that delivered this version, as a W3C
	// traceparent, where it belongs to a trace that is recorded. Otherwise it is
	// empty. It says nothing about the document, and nothing rests on it.
	Trace string
}

// Delivery is what one request of the publisher carried. The journal takes all
// of it or nothing.
type Delivery struct {
	Changes  []Change
	Refusals []Refusal

	// MoreRefused is how many records were refused besides those in Refusals, which are
	// the first. Of the others only their number is kept.
	MoreRefused int

	// Ambiguous makes the refusal of a change, whose index is given, that names a city by
	// a code which several state. The journal keeps it in the place of the change. Without
	// it nothing of the delivery is taken then (ErrAmbiguous).
	Ambiguous func(change int) Refusal

	// RetryOf is the Seq of the refusal that this delivery retries, or 0. Changes
	// to documents of which the journal has accepted something newer than that
	// refusal are left out: a retry never overtakes. Newer is what was delivered
	// later, and what was refused later and retried before; a dead letter that was
	// retried, or a document that was renewed, is as old as its delivery. Refusals
	// of this delivery take the place of the retried one. That goes, in the same
	// transaction.
	RetryOf int64

	// Receipt, if not nil, is kept with the delivery for ReceiptsFor. While there
	// is one with the same sender and id, the delivery is not taken: the error is a
	// *RepeatedError where the digest is the same too, and else ErrIDReused.
	Receipt *Receipt

	// Gone, if not nil, tells whether its sender has hung up. The journal asks right
	// before it carries the delivery out, and does not take it then (ErrGone): the sender
	// may have sent a newer one since, which this one would overtake. It is to be quick,
	// and may be called until Append has returned, and for as long after it as that is
	// not carried out. A sender who has closed its half of the connection, and waits for
	// the answer, cannot be told from one who has gone.
	Gone func() bool
}

// Stamp is what the journal made of one change: the document that it is for,
// which differs from the one addressed where a city was named by its code, and
// its version. The version is 0 where the change was left out, see
// Delivery.RetryOf and Change.ExactID, and where Effect says why there is none.
type Stamp struct {
	Key
	Version Version
	Effect  Effect
}

// Effect is what an accepted change, or one that could not be, came to.
type Effect int

const (
	Changed   Effect = iota // it is the newest of its document, unless it was left out
	Unknown                 // a delete of a document that is not there; without a version where it left nothing in the journal
	Ambiguous               // it names a city by a code that several state; it was refused
)

// Refusal is a delivery, or one record of it, that was not accepted. It is kept
// for inspection.
type Refusal struct {
	Seq      int64 // assigned by the journal, from 1; later ones are higher
	At       time.Time
	Kind     Kind   // empty when the path named none
	Method   string // of the request
	Path     string // of the request, percent-encoded as it came
	Position int    // of the record in the delivery, from 0; -1 when all of it was refused
	ID       string // as far as it is known
	Reason   string // one word of a fixed set, the label of the metric
	Detail   string // a sentence for people: what is wrong, where, what to do
	Body     []byte // as far as it was read, not necessarily JSON; nil in lists
	Bytes    int    // of Body
	Cut      bool   // Body is not all of what was sent
}

// MayRetry tells how a refusal may be delivered once more.
type MayRetry string

// The ways.
const (
	RetryAsIs   MayRetry = "as_is"  // as it was kept: what it was refused for may have been mended since
	RetryEdited MayRetry = "edited" // with another body alone
	RetryNever  MayRetry = "never"
)
