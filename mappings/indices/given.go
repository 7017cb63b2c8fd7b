package indices

import (
	"context"

	"riskdex/report"
)

// newestGiven is how many documents Given looks at: a journal that was set back lacks the newest,
// but another process may have accepted others since.
const (
	newestGiven      = 1000
	newestGivenAgain = 100 // of an index that was compared before
)

// Given returns the newest versions in the index of a kind that the journal gave out, or one that it
// is a copy of. It knows them unless it was set back. There are none in an index that another journal
// fills, or a copy. With again, it looks at a few: something else writes there as well, or nothing
// does. It waits for no refresh: a search wakes an index that is idle.
func (x *Indices) Given(ctx context.Context, kind report.Kind, again bool) ([]report.Stamp, error) {
	s, err := x.state(ctx, kind)
	if err != nil {
		return nil, err
	}
	index, limit := x.meant(kind, s), newestGiven
	owner := x.ownerOf(s, index)
	if index == "" || x.Lineage == "" || owner != this && owner != original {
		return nil, nil
	}
	if again {
		limit = newestGivenAgain
	}
	// A journal that has gone on since it was copied has at least written its probe.
	return x.Client.NewestGiven(ctx, kind, index, limit, owner == original)
}
