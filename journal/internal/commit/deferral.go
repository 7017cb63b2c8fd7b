package commit

import (
	"time"

	"riskdex/report"
)

// Deferral is why a document is put off, and until when.
type Deferral struct {
	until       time.Time
	Debounce    bool      // or until nothing was delivered for it for report.Debounce
	DeliveredAt time.Time // when it was delivered last; counts where Debounce
}

// DeferralOf returns what a settlement asks for.
func DeferralOf(s Settled) Deferral {
	return Deferral{until: s.NotBefore, Debounce: s.Newer && s.Outcome != report.Retry, DeliveredAt: s.DeliveredAt}
}

// End returns when the document may be given out.
func (d Deferral) End() time.Time {
	if calm := d.DeliveredAt.Add(report.Debounce); d.Debounce && calm.Before(d.until) {
		return calm
	}
	return d.until
}

// MinWait bounds how often it is looked for what is due.
const MinWait = 20 * time.Millisecond
