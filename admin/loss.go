package admin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"riskdex/report"
)

// Losses ends what the journal says of changes that it lacks.
type Losses interface {
	// AcknowledgeLoss returns the loss that it has ended, or report.ErrNotFound.
	AcknowledgeLoss(ctx context.Context) (report.Loss, error)
}

// Loss is a time from which changes may be missing that were acknowledged.
type Loss struct {
	Since     time.Time `json:"since,omitzero"` // not there where all may be missing that there was before
	Until     time.Time `json:"until"`
	NoticedAt time.Time `json:"noticed_at"`
}

func lossOf(l report.Loss) *Loss { return &Loss{Since: l.Since, Until: l.Until, NoticedAt: l.Noticed} }

// losses answers the call on a loss.
type losses struct{ journal Losses }

func (l *losses) calls() []call {
	return []call{{http.MethodPost, "/api/journal/acknowledge-loss", "", l.acknowledge}}
}

func (l *losses) acknowledge(r *request) (any, error) {
	ended, err := l.journal.AcknowledgeLoss(r.Context())
	if errors.Is(err, report.ErrNotFound) {
		return nil, notFound("The journal knows of no loss, or somebody has acknowledged it before.")
	}
	if err != nil {
		return nil, err
	}
	return lossOf(ended), nil
}
