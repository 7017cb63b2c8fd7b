package indexer

import (
	"context"
	"fmt"

	"github.com/cenkalti/backoff/v4"

	"riskdex/report"
)

// ask asks a question, again and again while it fails for reasons that pass.
func (r *verification) ask(ctx context.Context, doing string, q question) error {
	return backoff.Retry(func() error {
		a, ok := q.attempt(ctx, r.client)
		if ok {
			return nil
		}
		if ctx.Err() != nil {
			return backoff.Permanent(ctx.Err())
		}
		j := classify(a)
		err := &VerifyError{Index: r.alias, Doing: doing, Reason: j.reason, Detail: a.detail, status: a.status}
		if j.verdict != retry {
			return backoff.Permanent(err)
		}
		return err
	}, backoff.WithContext(r.newBackOff(r.cfg.Patience), ctx))
}

// look asks the index for the versions of documents.
func (r *verification) look(ctx context.Context, ids []report.ID) (have map[report.ID]indexed, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	q, err := versionsOf(r.alias, ids, &have)
	if err != nil {
		return nil, err
	}
	err = r.ask(ctx, fmt.Sprintf("asking for %d documents", len(ids)), q)
	return have, err
}
