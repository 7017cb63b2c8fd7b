package receiver

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"riskdex/report"
)

// answered counts an answer, describes it in the span of its request, and passes it to the
// observer.
func (r *Receiver) answered(ctx context.Context, a report.Answered) {
	r.describe(trace.SpanFromContext(ctx), a)
	r.metrics.answered(a.Kind, a.Method, a.Status)
	if r.observe != nil && mayCarryDelivery(a.Method) {
		a.At = r.now().UTC()
		r.observe(a)
	}
}
