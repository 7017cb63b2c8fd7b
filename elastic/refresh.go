package elastic

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// Shards counts the shard copies that a request was for, and on how many it succeeded.
type Shards struct {
	Total, Successful, Failed int
}

// Whole tells whether every shard answered.
func (s *Shards) Whole() bool {
	return s != nil && s.Total > 0 && s.Failed == 0 && s.Successful == s.Total
}

// Refresh makes everything visible that was written to an index before. It returns an error
// unless all of the index is known to be refreshed.
func (c *Client) Refresh(ctx context.Context, index string) error {
	answer, err := c.Ask(ctx, esapi.IndicesRefreshRequest{Index: []string{index}})
	if err != nil {
		return err
	}
	var body struct {
		Shards *Shards `json:"_shards"`
	}
	// Unassigned copies are counted in the total only.
	if err := json.Unmarshal(answer, &body); err != nil || body.Shards == nil || body.Shards.Failed != 0 {
		return errors.New("not all shards were refreshed")
	}
	return nil
}
