package commit

import (
	"cmp"

	"riskdex/report"
)

// Row is the row of a document, with its body only if that is to be written. Times are in microseconds since 1970.
type Row struct {
	report.Key
	Doc     int64 // its number in an SQLite journal
	Version report.Version
	Origin  report.Version // that its content was delivered under; 0 is Version, negative as in retryOrigin
	Op      report.Op
	State   int64
	Code    string
	report.Naming
	AcceptedAt        int64
	WaitedAt          int64 // since when it is pending, or as in OldEnded
	EndedAt           int64 // when it was settled or set aside; until then, when it was accepted
	CRC               int64
	Trace             string
	ErrorType, Reason string
	Bytes             int64 // of its body
	Lease                   // in a PostgreSQL journal

	Body    []byte  // of the newest change, if Written
	Fresh   bool    // it is not in the table
	Written bool    // its body differs from what is in the table
	Was     Was     // what the table has
	changed bool    // anything differs from that
	noted   codedAs // under what Rows lists it
}

// Lease says which process has a document.
type Lease struct {
	FreeAt, Holder, Claimed int64
	ClaimedElsewhere        bool // another process has claimed it
}

// Was is what the table has of a row.
type Was struct {
	Op   report.Op
	Code string
	report.Naming
}

// wrote notes that the table has the row.
func (r *Row) wrote() {
	r.Was = Was{r.Op, r.Code, r.Naming}
	r.Body, r.Fresh, r.Written, r.changed = nil, false, false, false
}

// codedAs returns the code that a city has; the zero codedAs if it has none.
func (r *Row) codedAs() codedAs {
	if !r.HasCode() {
		return codedAs{}
	}
	return codedAs{r.Code, r.Op}
}

// accept makes c the newest change of a document.
func (r *Row) accept(c report.Change, n report.Naming, origin report.Version, waiting int64) {
	at := c.AcceptedAt.UnixMicro()
	r.Version, r.Origin, r.Op, r.State, r.Code, r.Naming = c.Version, origin, c.Op, StatePending, c.Code, n
	r.AcceptedAt, r.WaitedAt, r.EndedAt, r.CRC, r.Trace = at, waiting, at, int64(Checksum(c)), c.Trace
	r.ErrorType, r.Reason = "", ""
	r.Body, r.Bytes, r.Written = c.Body, int64(len(c.Body)), true
}

// keepsEnd reports whether the end of a document in a state leaves EndedAt as it is: one that was sent
// once more keeps the time at which the index first had it.
func keepsEnd(state int64, op report.Op) bool { return state == StateResend && op == report.Index }

// end settles the newest change of a document.
func (r *Row) end(at int64) {
	if !keepsEnd(r.State, r.Op) {
		r.EndedAt = at
	}
	r.State, r.Trace = StateDone, ""
}

// setAside makes a dead letter of it. What the index had before keeps since when, as OldEnded has it.
func (r *Row) setAside(at int64, errorType, reason string) {
	if keepsEnd(r.State, r.Op) {
		r.WaitedAt = -r.EndedAt
	}
	r.State, r.EndedAt, r.Trace, r.ErrorType, r.Reason = StateDead, at, "", errorType, reason
}

// drop gives a dead letter up.
func (r *Row) drop(at int64) {
	r.State, r.EndedAt, r.ErrorType, r.Reason, r.Bytes = StateDropped, at, "", "", 0
	r.Body, r.Written = nil, true
}

// renumber gives the same content a new version, whose checksum is crc. What was settled is sent again.
func (r *Row) renumber(v report.Version, crc int64) {
	r.Version, r.Origin, r.CRC = v, r.originOf(), crc
	if r.State == StateDone {
		r.State = StateResend
	}
}

// place returns the version under which the publisher delivered what a row holds, which is its place in
// the order of deliveries. It is older than the row's own version where that was reissued, or retried: what
// was delivered or refused in between is newer all the same.
func (r *Row) place() report.Version {
	origin := r.originOf()
	return max(origin, -origin)
}

// originOf is the origin to store when a row gets a new version for the same content. It is negative
// for what was refused at first, which is no change of its delivery.
func (r *Row) originOf() report.Version { return cmp.Or(r.Origin, r.Version) }
