package commit

import (
	"context"
	"fmt"
	"time"

	"riskdex/report"
)

// Loss is what a journal lacks of what it had acknowledged: the versions after Since, up to
// Until. It is stored in the journal, so copies have it as well, until somebody acknowledges
// it.
type Loss struct {
	Since, Until report.Version
	NoticedAt    int64 // microseconds
}

// Join is both losses, and what is between them. It was noticed when the first was.
func (l Loss) Join(more Loss) Loss {
	switch {
	case l.Until == 0:
		return more
	case more.Until == 0:
		return l
	}
	return Loss{min(l.Since, more.Since), max(l.Until, more.Until), min(l.NoticedAt, more.NoticedAt)}
}

// Report is the loss as the interface has it.
func (l Loss) Report() report.Loss {
	r := report.Loss{}
	if l.Until == 0 {
		return r
	}
	if l.Since > 0 {
		r.Since = FromMicro(int64(l.Since))
	}
	r.Until, r.Noticed = FromMicro(int64(l.Until)), FromMicro(l.NoticedAt)
	return r
}

// LossColumns are the columns of a loss, for [Loss.ScanTargets]. The table loss has one row at
// most; without one they are zeros.
const LossColumns = `coalesce((SELECT since FROM loss), 0), coalesce((SELECT until FROM loss), 0), coalesce((SELECT noticed_at FROM loss), 0)`

// ScanTargets are what LossColumns are scanned into.
func (l *Loss) ScanTargets() []any {
	return []any{(*int64)(&l.Since), (*int64)(&l.Until), &l.NoticedAt}
}

// EndLoss is the statement of both engines that forgets the loss and returns it.
const EndLoss = `DELETE FROM loss RETURNING since, until, noticed_at`

// AcknowledgeLoss implements Journal. A note remains, for what was lost is not there again.
func (j *Requests) AcknowledgeLoss(ctx context.Context) (report.Loss, error) {
	var l Loss
	err := j.queue.Do(ctx, &Request{Sync: true, Run: func(tx *Transaction) (err error) {
		if l, err = tx.Store.EndLoss(); err != nil {
			return err
		}
		return tx.Store.Note(NotePrefix+report.AcknowledgedLossNote(l.Report()), report.NoteOfLoss(l.Report()))
	}})
	if err != nil {
		return report.Loss{}, fmt.Errorf("acknowledge a loss of the journal: %w", err)
	}
	return l.Report(), nil
}

// FromMicro is a time in microseconds.
func FromMicro(at int64) time.Time { return time.UnixMicro(at).UTC() }
