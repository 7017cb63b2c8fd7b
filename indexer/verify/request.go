package verify

import (
	"context"
	"fmt"

	"github.com/cenkalti/backoff/v4"

	"riskdex/elastic"
	"riskdex/report"
)

// ask sends a request, and retries it after temporary failures.
func (r *verification) ask(ctx context.Context, doing string, request func(context.Context) error) error {
	return backoff.Retry(func() error {
		err := request(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return backoff.Permanent(ctx.Err())
		}
		a := elastic.AnswerOf(err)
		verdict, reason := elastic.Classify(a)
		failed := &Error{Index: r.alias, Doing: doing, Reason: reason, Detail: a.Detail, status: a.Status}
		if verdict != elastic.Retry {
			return backoff.Permanent(failed)
		}
		return failed
	}, backoff.WithContext(r.newBackOff(r.cfg.RetryTimeout), ctx))
}

// versions returns the state of documents in the index.
func (r *verification) versions(ctx context.Context, ids []report.ID) (have map[report.ID]elastic.Indexed, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	err = r.ask(ctx, fmt.Sprintf("asking for %d documents", len(ids)), func(ctx context.Context) (err error) {
		have, err = r.client.Versions(ctx, r.alias, ids)
		return err
	})
	return have, err
}
