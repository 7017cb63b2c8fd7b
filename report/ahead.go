package report

import "time"

// Ahead is a document whose version in the index is higher than any that the journal has
// assigned to it.
type Ahead struct {
	Stamp         // the newest of the journal
	Index Version // what the index has
}

// longestReach bounds how far versions may be raised. No clock has been wrong by more, and
// the numbers above that limit never run out.
const longestReach = 100 * 365 * 24 * time.Hour

// InReach reports whether a journal can assign versions above v. A version out of reach
// cannot have come from a clock, and few numbers may be left above it.
func (v Version) InReach(now time.Time) bool {
	return v <= Version(now.Add(longestReach).UnixMicro())
}

// Carried is a version that the journal gave out, as the probe carries it: of a delete, nothing else
// outside the journal has one.
type Carried struct {
	Kind    Kind    `json:"kind"`
	ID      ID      `json:"id"`
	Version Version `json:"version"`
}
