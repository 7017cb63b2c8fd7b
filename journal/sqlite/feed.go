package sqlite

import (
	"context"
	"fmt"

	"riskdex/report"
)

// Feed implements Journal. Versions are committed in their order, so everything up to the last
// version that is committed can be told once it is durable.
func (j *Journal) Feed(ctx context.Context, after report.Cursor, limit, maxBytes int) (report.FeedPage, error) {
	page, err := j.ReadFeed(ctx, "", after, 0, limit, maxBytes)
	if err != nil {
		return report.FeedPage{}, err
	}
	if err := j.awaitDurable(ctx); err != nil {
		return report.FeedPage{}, fmt.Errorf("read the feed of changes of the journal: %w", err)
	}
	return page, nil
}

// Committed implements Journal.
func (j *Journal) Committed() <-chan struct{} { return j.durable.Next() }

// awaitDurable waits until what is committed is durable.
func (j *Journal) awaitDurable(ctx context.Context) error {
	j.claims.commit.Lock()
	f := j.claims.flush
	j.claims.commit.Unlock()
	if f == nil {
		return nil
	}
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
