package commit

import (
	"cmp"

	"riskdex/report"
)

// BeforeAll is the origin of what does not come from the publisher. Everything that does is
// newer.
const BeforeAll report.Version = 1

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

// retryOrigin is the origin to store for what a retry brings at a place; 0 is the newest place.
func retryOrigin(place report.Version) report.Version {
	if place <= BeforeAll {
		return place
	}
	return -place
}
