package admin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"riskdex/report"
)

// Losses lets an operator acknowledge that the journal lacks changes.
type Losses interface {
	// AcknowledgeLoss ends the known loss and returns it. Without one, it returns
	// report.ErrNotFound.
	AcknowledgeLoss(ctx context.Context) (report.Loss, error)
}

// Loss is a period of time from which acknowledged changes may be missing.
type Loss struct {
	Since     time.Time `json:"since,omitzero"` // zero if everything before Until may be missing
	Until     time.Time `json:"until"`
	NoticedAt time.Time `json:"noticed_at"`
}

func lossOf(l report.Loss) *Loss { return &Loss{Since: l.Since, Until: l.Until, NoticedAt: l.Noticed} }

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
	return lossOf(ended), nil
}
