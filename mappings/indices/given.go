package indices

import (
	"context"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"riskdex/elastic"
	"riskdex/report"
)

// newestGiven is how many documents Given looks at: a journal that was set back lacks the newest,
// but another process may have accepted others since.
const newestGiven = 1000

// Given returns the newest versions in the index of a kind that the journal gave out, which it
// knows unless it was set back. There are none in an index that another journal fills.
func (x *Indices) Given(ctx context.Context, kind report.Kind) ([]report.Stamp, error) {
	s, err := x.state(ctx, kind)
	if err != nil {
		return nil, err
	}
	index := x.meant(kind, s)
	if index == "" || x.Lineage == "" || s.lineage(index) != x.Lineage {
		return nil, nil
	}
	// Whoever wrote last may not have had it refreshed. Where that is not allowed, the index does so itself.
	_, _ = x.Client.Ask(ctx, esapi.IndicesRefreshRequest{Index: []string{index}}, elastic.Refreshed)
	return x.Client.NewestGiven(ctx, kind, index, newestGiven)
}
