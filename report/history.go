package report

import (
	"errors"
	"time"
)

// Source says from whom a delivery came. It never has a secret.
type Source struct {
	Sender  string // the name of the credential; empty if senders need none
	Address string // of the sender, as the receiver sees it; empty if riskdex itself made the change
	Call    string // "PUT /cities/LON"
	Request string // the id that the request brought (X-Request-Id) or was given; empty likewise, and in older entries
}

// Past is one version of a document, as its history tells of it.
type Past struct {
	Key
	Version    Version
	Op         Op
	Code       string // of a city that has one
	AcceptedAt time.Time
	Source     // empty if it was accepted while history was off
	Bytes      int

	// State is what became of the version: how it stood when the next was accepted, or how it
	// stands if it is the newest. It is empty if nobody knows.
	State State

	// SearchableAt is when the index first had it, or for a delete lacked it. It is zero if
	// it never did, or does not yet, or if nobody knows, which State tells.
	SearchableAt time.Time

	// SearchableUntil is when the index first had a later version. ReplacedAt is when the
	// next version was accepted. Both are zero if there is none, and after a gap: UntilUnknown is
	// set if a version of which history does not tell that may have reached the index before.
	SearchableUntil time.Time
	UntilUnknown    bool
	ReplacedAt      time.Time

	// Gap is set if more was accepted, while history was off, between this version and the next
	// that history has.
	Gap bool

	// First is set if the document was not there before.
	First bool

	Body []byte // nil in lists
	Lost Lost   // why there is no body, if there should be one
}

// NeverSearchable reports whether a later version took its place before the index had it, or
// Elasticsearch refused it.
func (p *Past) NeverSearchable() bool {
	switch p.State {
	case StateDead, StateDropped:
		return p.SearchableAt.IsZero() // otherwise it was refused when it was sent again
	case StatePending:
		return !p.ReplacedAt.IsZero()
	}
	return false
}

// HistoryBounds is what a journal keeps of history.
type HistoryBounds struct {
	Keep     time.Duration // 0 if history is off
	MaxBytes int64
	Since    time.Time // when the oldest entry was accepted; zero if there is none
}

// LostUnknown is why a version has no record whose successor is not in the history.
const LostUnknown Lost = "not_kept"

// ErrHistoryTooShort is returned for a time at which history cannot tell what was valid.
var ErrHistoryTooShort = errors.New("history does not reach back to that time")
