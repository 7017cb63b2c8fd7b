package commit

import "riskdex/report"

// Quota says which limits apply to a request.
type Quota int

const (
	NoQuota   Quota = iota // no limits, so that the backlog drains in any case
	DiskQuota              // Options.MinFree: it frees space in the journal, but first writes to the WAL
	FullQuota              // MinFree and Options.MaxBytes: it may make the journal larger
)

// quotaOf returns the quota of a delivery. Deletes are accepted above Options.MaxBytes, since they
// are all that a publisher can do about it.
func quotaOf(d report.Delivery) Quota {
	n := NoQuota
	for _, c := range d.Changes {
		if c.Op != report.Delete {
			return FullQuota
		}
		n = DiskQuota
	}
	return n
}
