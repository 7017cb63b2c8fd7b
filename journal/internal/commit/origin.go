package commit

import "riskdex/report"

// BeforeAll is the origin of what does not come from the publisher. Everything that does is
// newer.
const BeforeAll report.Version = 1

// origin returns the version under which the publisher delivered what a row holds.
// It is older than the row's own where that was renewed, or retried: what was
// delivered or refused in between is newer all the same.
func (tx *Transaction) origin(r *Row) (report.Version, error) {
	origin, err := tx.Store.Origin(r)
	if origin == 0 {
		origin = r.Version
	}
	return origin, err
}
