package indices

import (
	"context"

	"riskdex/report"
)

// newestGiven is how many documents Given looks at: a journal that was set back lacks the newest,
// but another process may have accepted others since.
const newestGiven = 1000

// Given returns the newest versions in the index of a kind that the journal gave out, which it
// knows unless it was set back. There are none in an index that another journal fills. It waits for
// no refresh: a search wakes an index that is idle.
func (x *Indices) Given(ctx context.Context, kind report.Kind) ([]report.Stamp, error) {
	s, err := x.state(ctx, kind)
	if err != nil {
		return nil, err
	}
	index := x.meant(kind, s)
	if index == "" || x.Lineage == "" || s.lineage(index) != x.Lineage {
		return nil, nil
	}
	return x.Client.NewestGiven(ctx, kind, index, newestGiven)
}
