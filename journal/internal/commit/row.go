package commit

import (
	"cmp"

	"riskdex/report"
)

// Row is the row of a document without its body. Times are in microseconds since 1970.
type Row struct {
	report.Key
	Doc     int64 // its number in an SQLite journal
	Version report.Version
	Origin  report.Version // that its content was delivered under; 0 is Version, negative as in retryOrigin
	Op      report.Op
	State   int64
	Code    string
	Naming
	AcceptedAt        int64
	WaitedAt          int64 // since when it is pending, or as in OldEnded
	EndedAt           int64 // when it was settled or set aside
	CRC               uint32
	Trace             string
	ErrorType, Reason string
	Bytes             int64 // of its body
	ClaimedElsewhere  bool  // another process has claimed it
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
}

// renumber gives the same content a new version, whose checksum is crc. What was settled is sent again.
func (r *Row) renumber(v report.Version, crc uint32) {
	r.Version, r.Origin, r.CRC = v, r.originOf(), crc
	if r.State == StateDone {
		r.State = StateResend
	}
}

// place returns the version under which the publisher delivered what a row holds: its place in the
// order of deliveries. It is older than the row's own version where that was reissued, or retried: what
// was delivered or refused in between is newer all the same.
func (r *Row) place() report.Version {
	origin := r.originOf()
	return max(origin, -origin)
}

// originOf is the origin to store when a row gets a new version for the same content. It is negative
// for what was refused at first, which is no change of its delivery.
func (r *Row) originOf() report.Version { return cmp.Or(r.Origin, r.Version) }
