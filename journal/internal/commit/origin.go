package commit

import "riskdex/report"

// BeforeAll is the origin of what does not come from the publisher. Everything that does is
// newer.
const BeforeAll report.Version = 1

// origin returns the version under which the publisher delivered what a row holds.
// It is older than the row's own where that was reissued, or retried: what was
// delivered or refused in between is newer all the same.
func (x resolver) origin(r *Row) (report.Version, error) {
	origin, err := x.storedOrigin(r)
	if origin < 0 {
		origin = -origin
	}
	return origin, err
}

// storedOrigin is the origin as the store has it: negative for what was refused at first, which
// is no change of its delivery.
func (x resolver) storedOrigin(r *Row) (report.Version, error) {
	origin, err := x.rows.Origin(r)
	if origin == 0 {
		origin = r.Version
	}
	return origin, err
}

// retryOrigin is the origin to store for what a retry brings at a place.
func retryOrigin(place report.Version) report.Version {
	if place == BeforeAll {
		return place
	}
	return -place
}
