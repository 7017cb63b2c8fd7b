package commit

import "riskdex/report"

// BeforeAll is the origin of what does not come from the publisher. Everything that does is
// newer.
const BeforeAll report.Version = 1

// retryOrigin is the origin to store for what a retry brings at a place; 0 is the newest place.
func retryOrigin(place report.Version) report.Version {
	if place <= BeforeAll {
		return place
	}
	return -place
}
