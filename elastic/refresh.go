package elastic

import (
	"context"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// Refresh makes everything visible that was written to an index before.
func (c *Client) Refresh(ctx context.Context, index string) error {
	_, err := c.Ask(ctx, esapi.IndicesRefreshRequest{Index: []string{index}}, Refreshed)
	return err
}
