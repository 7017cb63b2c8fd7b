package journal

import (
	"riskdex/report"
)

// beforeAll is the origin of what does not come from the publisher: all that does is
// newer.
const beforeAll report.Version = 1

// origin returns the version under which the publisher delivered what a row holds.
// It is older than the row's own where that was renewed, or retried: what was
// delivered or refused in between is newer all the same.
func (tx *transaction) origin(r *row) (report.Version, error) {
	origin, err := tx.store.origin(r)
	if origin == 0 {
		origin = r.version
	}
	return origin, err
}
