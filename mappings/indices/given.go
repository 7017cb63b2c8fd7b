package indices

import (
	"context"
	"time"

	"riskdex/report"
)

// Given returns the newest versions, up to limit, in the index of a kind that the journal gave out, which
// it knows unless it was set back, or a copy of it sends to the same index. There are none in an index that
// another journal fills. What was written in the last moment is among them only if it is refreshed before.
func (x *Indices) Given(ctx context.Context, kind report.Kind, limit int, refresh bool) ([]report.Stamp, error) {
	s, err := x.state(ctx, kind)
	if err != nil {
		return nil, err
	}
	index := x.meant(kind, s)
	if index == "" || x.Lineage == "" || s.lineage(index) != x.Lineage {
		return nil, nil
	}
	if refresh {
		const within = 3 * time.Second // a shard that is not there is waited for
		hurry, cancel := context.WithTimeout(ctx, within)
		_ = x.Client.Refresh(hurry, index) // the search says what is wrong, if something is
		cancel()
	}
	return x.Client.NewestGiven(ctx, kind, index, limit)
}
