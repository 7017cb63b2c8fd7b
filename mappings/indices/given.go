package indices

import (
	"context"

	"riskdex/report"
)

// Given returns the newest versions, up to limit, in the index of a kind that the journal gave out, which
// it knows unless it was set back, or a copy of it sends to the same index. There are none in an index that another journal fills. It waits for
// no refresh: a search wakes an index that is idle.
func (x *Indices) Given(ctx context.Context, kind report.Kind, limit int) ([]report.Stamp, error) {
	s, err := x.state(ctx, kind)
	if err != nil {
		return nil, err
	}
	index := x.meant(kind, s)
	if index == "" || x.Lineage == "" || s.lineage(index) != x.Lineage {
		return nil, nil
	}
	return x.Client.NewestGiven(ctx, kind, index, limit)
}
