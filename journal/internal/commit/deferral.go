package commit

import (
	"time"

	"riskdex/report"
)

// Deferral says until when a document is not given out.
type Deferral struct {
	until       time.Time
	Debounce    bool      // or until nothing was delivered for it for report.Debounce
	DeliveredAt time.Time // its last delivery, which Debounce goes by
}

// DeferralOf returns what a settlement asks for.
func DeferralOf(s Settled) Deferral {
	return Deferral{until: s.NotBefore, Debounce: s.Newer && s.Outcome != report.Retry, DeliveredAt: s.DeliveredAt}
}

// End returns when the document may be given out.
func (d Deferral) End() time.Time {
	if end := d.DeliveredAt.Add(report.Debounce); d.Debounce && end.Before(d.until) {
		return end
	}
	return d.until
}

// MinWait is the shortest time between two searches for documents that are due.
const MinWait = 20 * time.Millisecond
