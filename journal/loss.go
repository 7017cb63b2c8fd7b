package journal

import (
	"context"
	"fmt"

	"riskdex/report"
)

// loss is what a journal lacks of what it had acknowledged: versions after since, up to
// until. It stands in the journal, so that copies have it as well, until somebody says that
// it was made good.
type loss struct {
	since, until report.Version
	noticedAt    int64 // microseconds
}

// and is both losses, and what is between them. It was noticed when the first was.
func (l loss) and(more loss) loss {
	switch {
	case l.until == 0:
		return more
	case more.until == 0:
		return l
	}
	return loss{min(l.since, more.since), max(l.until, more.until), min(l.noticedAt, more.noticedAt)}
}

func (l loss) report() report.Loss {
	r := report.Loss{}
	if l.until == 0 {
		return r
	}
	if l.since > 0 {
		r.Since = fromMicro(int64(l.since))
	}
	r.Until, r.Noticed = fromMicro(int64(l.until)), fromMicro(l.noticedAt)
	return r
}

// lossColumns are zeros where there is no row in the table loss, which has one at most.
const lossColumns = `coalesce((SELECT since FROM loss), 0), coalesce((SELECT until FROM loss), 0), coalesce((SELECT noticed_at FROM loss), 0)`

// into is where lossColumns go.
func (l *loss) into() []any { return []any{(*int64)(&l.since), (*int64)(&l.until), &l.noticedAt} }

// endLoss returns what was there.
const endLoss = `DELETE FROM loss RETURNING since, until, noticed_at`

// AcknowledgeLoss implements Journal.
func (j *requests) AcknowledgeLoss(ctx context.Context) (report.Loss, error) {
	var l loss
	err := j.queue.do(ctx, &request{sync: true, run: func(tx *transaction) (err error) {
		l, err = tx.store.endLoss()
		return err
	}})
	if err != nil {
		return report.Loss{}, fmt.Errorf("acknowledge a loss of the journal: %w", err)
	}
	return l.report(), nil
}
