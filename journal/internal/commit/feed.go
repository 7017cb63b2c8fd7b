package commit

import (
	"cmp"
	"context"
	"slices"

	"riskdex/report"
)

// Head is a change of the feed without its record.
type Head struct {
	report.Key
	Version report.Version
	Doc     int64 // its row in a journal in SQLite
	Bytes   int64 // of its record
}

// Page returns the next page of the feed. heads are the next changes of each kind. The page has
// at most limit changes with records of at most maxBytes together, but at least one if there is
// one. more tells that it left some out. The error is that of report.TryMemory for the records.
func Page(ctx context.Context, heads []Head, limit, maxBytes int) (page []Head, more bool, err error) {
	slices.SortFunc(heads, func(a, b Head) int { return cmp.Compare(a.Version, b.Version) })
	bytes := int64(0)
	for i, h := range heads {
		if i == max(limit, 1) || i > 0 && bytes+h.Bytes > int64(maxBytes) {
			heads, more = heads[:i], true
			break
		}
		bytes += h.Bytes
	}
	return heads, more, report.TryMemory(ctx, bytes)
}
