package indexer

import (
	"context"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"riskdex/report"
)

// A change without a trace costs nothing, whether tracing is on or off.
func TestUntracedChangesAllocateNothing(t *testing.T) {
	const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	on := &Indexer{cfg: Config{Tracer: sdktrace.NewTracerProvider().Tracer("riskdex")}}
	for name, c := range map[string]struct {
		x      *Indexer
		traced string
		free   bool
	}{
		"off":              {&Indexer{}, "", true},
		"off, was on":      {&Indexer{}, traceparent, true},
		"on, no trace":     {on, "", true},
		"on, with a trace": {on, traceparent, false},
	} {
		ctx := context.Background()
		batch := make([]prepared, 1000)
		settlements := make([]report.Settlement, len(batch))
		n := testing.AllocsPerRun(10, func() {
			for i := range batch {
				batch[i].change.Trace = c.traced
				batch[i].traced = c.x.trace(batch[i].change)
				batch[i].traced.context(ctx)
			}
			_, end := c.x.startBulk(ctx, report.Cities, "cities", batch)
			end(nil)
			lastBulk(batch)
			c.x.traceSettled(batch, settlements, batch[0].change.AcceptedAt)
		})
		if (n == 0) != c.free {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
