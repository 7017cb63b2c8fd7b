package indexer

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"riskdex/elastic"
	"riskdex/report"
)

// maxLinks is the largest number of deliveries that the span of a bulk links to, the default
// limit of OpenTelemetry (OTEL_SPAN_LINK_COUNT_LIMIT).
const maxLinks = 128

// traced is the trace of a change during one task.
type traced struct {
	delivery trace.SpanContext   // the request that delivered it
	bulks    []trace.SpanContext // that carried it, in their order
}

// trace returns nil, which costs nothing, for a change without a recorded trace.
func (x *Indexer) trace(c report.Change) *traced {
	if x.cfg.Tracer == nil || c.Trace == "" {
		return nil
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": c.Trace})
	delivery := trace.SpanContextFromContext(ctx)
	if !delivery.IsSampled() {
		return nil
	}
	return &traced{delivery: delivery}
}

// context returns ctx with the trace of the change, for the log.
func (t *traced) context(ctx context.Context) context.Context {
	if t == nil {
		return ctx
	}
	return trace.ContextWithRemoteSpanContext(ctx, t.delivery)
}

// startBulk begins the span of a bulk; end ends it with the error of the bulk. A bulk without
// traced changes has no span. The span links to every delivery in the bulk, and is in the trace
// of the first: so it is recorded if that is, whatever the sampler, and a delivery that is sent
// alone has all of its way in one trace.
func (x *Indexer) startBulk(ctx context.Context, kind report.Kind, to string, batch []prepared) (_ context.Context, end func(error)) {
	var links []trace.Link
	for _, p := range batch {
		if p.traced != nil && len(links) < maxLinks && !slices.ContainsFunc(links, func(l trace.Link) bool { return l.SpanContext.Equal(p.traced.delivery) }) {
			links = append(links, trace.Link{SpanContext: p.traced.delivery})
		}
	}
	if len(links) == 0 {
		return ctx, func(error) {}
	}
	attributes := []attribute.KeyValue{
		semconv.DBSystemNameElasticsearch, semconv.DBOperationName("bulk"), semconv.DBCollectionName(to),
		attribute.String("riskdex.kind", string(kind)), attribute.Int("riskdex.changes", len(batch)),
	}
	if len(batch) > 1 { // the attribute is never 1, by its definition
		attributes = append(attributes, semconv.DBOperationBatchSize(len(batch)))
	}
	ctx, span := x.cfg.Tracer.Start(trace.ContextWithRemoteSpanContext(ctx, links[0].SpanContext), "bulk "+to,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...), trace.WithLinks(links...))
	if span.SpanContext().IsSampled() {
		for _, p := range batch {
			if p.traced != nil {
				p.traced.bulks = append(p.traced.bulks, span.SpanContext())
			}
		}
	}
	return ctx, func(err error) {
		if err != nil {
			span.SetAttributes(semconv.ErrorTypeKey.String(judge(elastic.AnswerOf(err)).reason))
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// traceSettled creates a span for every traced change that is settled for good, from its
// acceptance, perhaps by another process, until now. Settlements are in the order of batch.
func (x *Indexer) traceSettled(batch []prepared, settlements []report.Settlement, now time.Time) {
	for i, p := range batch {
		s := settlements[i]
		if p.traced == nil || s.Outcome == report.Retry {
			continue
		}
		var links []trace.Link
		for _, bulk := range p.traced.bulks {
			links = append(links, trace.Link{SpanContext: bulk})
		}
		_, span := x.cfg.Tracer.Start(p.traced.context(context.Background()), "settle "+string(s.Kind),
			trace.WithTimestamp(p.change.AcceptedAt), trace.WithLinks(links...), trace.WithAttributes(
				attribute.String("riskdex.kind", string(s.Kind)), attribute.String("riskdex.id", string(s.ID)),
				attribute.Int64("riskdex.version", int64(s.Version)), attribute.String("riskdex.op", string(p.change.Op)),
				attribute.String("riskdex.outcome", string(s.Outcome)),
			))
		if s.Outcome == report.Dead { // the reason may quote the document, so it is left out
			span.SetAttributes(semconv.ErrorTypeKey.String(s.ErrorType))
			span.SetStatus(codes.Error, "")
		}
		span.End(trace.WithTimestamp(now))
	}
}

// lastBulk returns the span of the last bulk with a traced change, for the log.
func lastBulk(batch []prepared) (last trace.SpanContext) {
	for _, p := range batch {
		if p.traced != nil && len(p.traced.bulks) > 0 {
			last = p.traced.bulks[len(p.traced.bulks)-1]
		}
	}
	return last
}
