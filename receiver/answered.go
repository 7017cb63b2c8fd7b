package receiver

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"riskdex/report"
)

// Answered describes a delivery, or another request, that has been answered.
type Answered struct {
	At       time.Time
	Kind     report.Kind // empty when the path named none
	ID       string      // of the document, or of the first of several; empty where it is not known
	Path     string      // only where it is none of a delivery
	Method   string      // of the request; may be any text
	Status   int         // of the answer
	Reason   string      // one word, where nothing was accepted
	Accepted int         // documents
	Refused  int         // records that were refused one by one
}

// answered counts an answer, describes it in the span of its request, and passes it to the
// observer.
func (r *Receiver) answered(ctx context.Context, a Answered) {
	r.describe(trace.SpanFromContext(ctx), a)
	r.metrics.answered(a.Kind, a.Method, a.Status)
	if r.observe != nil {
		a.At = r.now()
		r.observe(a)
	}
}
