package commit

import (
	"cmp"
	"slices"

	"riskdex/report"
)

// Head is what is known of a change before its record is read.
type Head struct {
	report.Key
	Version report.Version
	Doc     int64 // where it is in an SQLite journal
	Bytes   int64 // of its record
}

// Page returns those of heads, which are the first of each kind, that make a page of the feed:
// up to limit, and up to maxBytes, but one if there is one. more says that it left some out.
func Page(heads []Head, limit, maxBytes int) (page []Head, more bool) {
	slices.SortFunc(heads, func(a, b Head) int { return cmp.Compare(a.Version, b.Version) })
	bytes := int64(0)
	for i, h := range heads {
		if bytes += h.Bytes; i == max(limit, 1) || i > 0 && bytes > int64(maxBytes) {
			return heads[:i], true
		}
	}
	return heads, false
}
