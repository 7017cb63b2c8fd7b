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

// Version orders what is sent of a document: the higher one is what counts now. A retry or a
// reissue gives old content a new version. It is positive, assigned by the journal, unique within it, and sent to
// Elasticsearch as the document's external version.
type Version int64

// Key names a document.
type Key struct {
	Kind Kind `json:"kind"`
	ID   ID   `json:"id"`
}

// Change is one document's part of a delivery: its new body, or its deletion.
// Changes are values. Nobody writes to Body.
type Change struct {
	Key
	Op Op

	// Code is the code that a city's record states, in upper case. NoCode is set if the
	// record says that the city has none. With neither, the city keeps the code it has.
	Code   string
	NoCode bool

	// OwnID is the id that a city's record states as its own, or empty. If it equals ID,
	// then ID is never read as a code. If it differs, ID comes from the path, and OwnID
	// decides only if the journal knows no document under ID.
	OwnID ID

	// ExactID is set for changes that riskdex makes itself, to documents that the journal
	// does not know. ID is then never read as a code, and the change is left out if the
	// publisher has delivered the document in the meantime, so that it overtakes nothing.
	ExactID bool

	// Identity is set for changes that another journal has told. ID is then the document's, and
	// the document is known by what the other one knew it by: no rule changes that.
	Identity *Identity

	// If, if not nil, reports whether the change may be made to the document that it is for, whose
	// newest version was accepted at that time; otherwise the change is left out. The version of a
	// document that is not there is 0, and to delete it needs no leave. If must return quickly, and
	// may be called more than once.
	If func(newest Version, acceptedAt time.Time) bool

	// Version and AcceptedAt are zero until the journal has assigned them.
	Version    Version
	AcceptedAt time.Time

	// Body is the record as it was delivered: valid JSON, byte for byte. It is
	// nil when Op is Delete.
	Body []byte

	// Resent is set if this version was settled before and is sent once more to fill or
	// repair an index. Only Claim sets it.
	Resent bool

	// Trace is the W3C traceparent of the request that delivered this version, or empty if
	// that request is not traced. It does not affect how the change is handled.
	Trace string
}

// Identity is what a journal knows of a document besides its content, to tell which one a
// delivery is for.
type Identity struct {
	Place Version `json:"place"` // in the order of deliveries: the version under which the content was delivered
	Naming
}

// Naming says where the code and the id of a city come from.
type Naming struct {
	// Kept is 0 if the newest record of the city states its code. Otherwise it is the place of
	// the last record that did, or negative, as commit.lostCode has it.
	Kept Version `json:"kept,omitempty"`
	// CodeOnly is set if the id comes from a path or a code, and no record has ever stated it as
	// the city's id.
	CodeOnly bool `json:"code_only,omitempty"`
}

// Delivery is the content of one request from the publisher. The journal accepts all of it
// or nothing.
type Delivery struct {
	Changes  []Change
	Refusals []Refusal

	// Source says from whom the delivery came. The journal keeps it with its history.
	Source Source

	// MoreRefused is the number of refused records beyond those in Refusals, which holds
	// the first ones. Of the others, only the number is kept.
	MoreRefused int

	// Ambiguous returns the refusal for Changes[change], which names a city by a code that
	// several cities state. The journal keeps the refusal in place of the change. If
	// Ambiguous is nil, such a delivery fails as a whole with ErrAmbiguous.
	Ambiguous func(change int) Refusal

	// RetryOf is the Seq of the refusal that this delivery retries, or 0. A retry never
	// overtakes: changes to documents for which the journal has accepted something newer
	// than that refusal are left out. A change is as old as its first delivery, even if it
	// was refused, dead-lettered or reissued in between. The retried refusal is deleted in
	// the same transaction, and refusals of this delivery take its place.
	RetryOf int64

	// Above is a version that those of the delivery are above: the newest of the journal that
	// has told the changes, whose places thus stay before what is delivered here.
	Above Version

	// Receipt, if not nil, is kept with the delivery for ReceiptsFor. Meanwhile, a
	// delivery with the same sender and id is not accepted: it fails with a *RepeatedError
	// if the digest is the same, and with ErrIDReused otherwise.
	Receipt *Receipt

	// Gone, if not nil, reports whether the sender has hung up. The journal calls it right
	// before it commits the delivery. If it returns true, the delivery fails with ErrGone,
	// because it could overtake a newer one from the same sender. Gone must return quickly.
	// It may be called even after Append has returned, until the delivery is committed or
	// abandoned. A sender that has half-closed its connection and still waits for the
	// answer looks the same as one that has hung up.
	Gone func() bool
}

// Stamp is what the journal made of one change: the document that it is for, and its
// version. Key differs from the key of the change if a city was addressed by its code.
// Version is 0 if the change was left out (see Delivery.RetryOf and Change.ExactID), or if
// Effect says why there is none.
type Stamp struct {
	Key
	Version Version
	Effect  Effect

	// Adopted is the version of the delete of the city, known by its code alone, that the
	// change adopted; or 0.
	Adopted Version
}

// Effect is the result of applying a change.
type Effect int

const (
	Changed   Effect = iota // the change is the newest of its document, unless it was left out
	Unknown                 // a delete of a document that does not exist; Version is 0 if the journal keeps nothing of it
	Ambiguous               // refused: it names a city by a code that several cities state
	Outdated                // left out, because of Change.If
)

// Refusal is a delivery, or one record of a delivery, that was not accepted. It is kept for
// inspection.
type Refusal struct {
	Seq      int64 // assigned by the journal, from 1; later ones are higher
	At       time.Time
	Kind     Kind   // empty if the path named none
	Method   string // of the request
	Path     string // of the request, percent-encoded as it came
	Position int    // of the record in the delivery, from 0; -1 if the whole delivery was refused
	ID       string // empty if unknown
	Reason   string // one word of a fixed set; the label of the metric
	Detail   string // a sentence for people: what is wrong, where, and what to do
	Body     []byte // what was read of it, not necessarily JSON; nil in lists
	Bytes    int    // length of Body
	Cut      bool   // more was sent than Body holds
}

// ReasonLost is the Reason of a record that the riskdex which is followed has lost.
const ReasonLost = "lost"

// MayRetry says how a refusal may be retried.
type MayRetry string

// The ways to retry a refusal.
const (
	RetryAsIs   MayRetry = "as_is"  // as kept: the cause may have been fixed since
	RetryEdited MayRetry = "edited" // only with another body
	RetryNever  MayRetry = "never"
)
