package admin

import (
	"context"
	"errors"
	"net/http"

	"riskdex/report"
)

// Losses lets an operator acknowledge that the journal lacks changes.
type Losses interface {
	// AcknowledgeLoss ends the known loss and returns it. Without one, it returns
	// report.ErrNotFound.
	AcknowledgeLoss(ctx context.Context) (report.Loss, error)
}

// losses answers the call that acknowledges a loss.
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
	return ended, nil
}
