package commit

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"riskdex/report"
)

// Slack is the part of a limit that must be free again before deliveries are accepted again, so
// that the next delivery does not exceed it once more.
const Slack = 64

// CheckUsed returns an error wrapping [report.ErrNoRoom] if a journal has reached Options.MaxBytes, or
// is full and does not use less than Slack allows. What it uses does not include space that is free
// inside of it, which the next deliveries take.
func CheckUsed(journal string, used, most int64, full bool) error {
	again := mostAgain(most)
	if most <= 0 || used < again || used < most && !full {
		return nil
	}
	size := func(n int64) string { return humanize.IBytesN(uint64(n), 4) } // enough digits for a part of Slack to show
	return fmt.Errorf("%w: %s uses %s, and --journal-max-bytes allows it %s; raise that, or delete documents until it uses less than %s",
		report.ErrNoRoom, journal, size(used), size(most), size(again))
}

// mostAgain is what a journal that was full must use less than.
func mostAgain(most int64) int64 { return most - most/Slack }

// OverOf returns by how much a journal that uses so much would have to become smaller to be accepting
// again if it were full; 0 if it need not.
func OverOf(used, most int64) int64 {
	if most <= 0 {
		return 0
	}
	return max(0, used-mostAgain(most))
}

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
