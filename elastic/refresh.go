package elastic

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// Shards counts the shard copies that a request was for, and on how many it succeeded.
type Shards struct {
	Total, Successful, Failed int
}

// Whole reports whether every shard answered.
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
	return CheckShards(answer)
}

// CheckShards returns an error unless an answer says that no shard failed: what it says would not
// be about the whole index. The error counts as a 503: try again later.
func CheckShards(answer []byte) error {
	var body struct {
		Shards *Shards `json:"_shards"`
	}
	if err := json.Unmarshal(answer, &body); err != nil {
		return err
	}
	// Unassigned copies are counted in the total only.
	if body.Shards == nil || body.Shards.Failed != 0 {
		reason := "the answer does not say whether shards failed"
		if body.Shards != nil {
			reason = fmt.Sprintf("%d of %d shards failed", body.Shards.Failed, body.Shards.Total)
		}
		return &ResponseError{Status: http.StatusServiceUnavailable, Type: "shards_failed", Reason: reason}
	}
	return nil
}
