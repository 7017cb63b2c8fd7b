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
	wait := r.beginWait(elastic.ReasonUnreachable)
	err := backoff.Retry(func() error {
		err := request(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return backoff.Permanent(ctx.Err())
		}
		verdict, reason, a := elastic.ClassifyError(err)
		failed := &Error{Index: r.alias, Doing: doing, Reason: reason, Detail: a.Detail, status: a.Status}
		if verdict != elastic.Retry {
			return backoff.Permanent(failed)
		}
		wait.failed(reason, a)
		return failed
	}, backoff.WithContext(r.newBackOff(r.cfg.RetryTimeout), ctx))
	wait.end(err)
	return err
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
