package commit

import "riskdex/report"

// Quota says which limits a request is held against: those of what the journal may take and
// of what the disk must have left.
type Quota int

const (
	NoQuota   Quota = iota // none: it goes on whatever happens, so that what waits drains
	DiskQuota              // that of the disk: it makes room in the journal, but first writes to the WAL
	FullQuota              // both: it may make the journal larger
)

// quotaOf is the quota of a delivery. Deletes are taken beyond Options.MaxBytes:
// they are what a publisher can do about it.
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
