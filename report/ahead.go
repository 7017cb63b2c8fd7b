package report

import "time"

// Ahead is a document of which an index has something with a higher version than the
// journal has ever given it.
type Ahead struct {
	Stamp         // the newest of the journal
	Index Version // what the index has
}

// longestReach bounds how far versions may be lifted. A clock that was wrong has been
// off by less, and what is left of the numbers lasts for ever.
const longestReach = 100 * 365 * 24 * time.Hour

// InReach tells whether a journal can go on above v. A version that is not was never
// made from a clock, and the versions above it may be used up soon.
func (v Version) InReach(now time.Time) bool {
	return v <= Version(now.Add(longestReach).UnixMicro())
}
