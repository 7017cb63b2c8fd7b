package receiver

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"riskdex/internal/requestid"
	"riskdex/report"
)

// startSpan begins the span of a request, in the sender's trace if the request has one (W3C
// Trace Context). Where the traceparent is invalid, the trace begins here.
func (r *Receiver) startSpan(req *http.Request) (*http.Request, trace.Span) {
	ctx := propagation.TraceContext{}.Extract(req.Context(), propagation.HeaderCarrier(req.Header))
	ctx, span := r.tracer.Start(ctx, "HTTP", trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(methodAttribute(req.Method)))
	if id := requestid.Of(ctx); id != "" {
		span.SetAttributes(attribute.String("riskdex.request_id", id))
	}
	return req.WithContext(ctx), span
}

// describe sets the attributes of a span once its request is answered, none of them a text of
// the sender's choice. An answer that blames the sender is not an error, as OpenTelemetry defines
// it for servers.
func (r *Receiver) describe(span trace.Span, a report.Answered) {
	if !span.IsRecording() {
		return
	}
	name := "HTTP"
	if method := methodLabel(a.Method); method != otherMethod {
		name = method
	}
	attributes := []attribute.KeyValue{
		attribute.String("riskdex.kind", kindLabel(a.Kind)),
		attribute.Int("riskdex.changes", a.Accepted),
		attribute.Int("riskdex.refused", a.Refused),
		semconv.HTTPResponseStatusCode(a.Status),
	}
	if route := r.route(a); route != "" {
		name += " " + route
		attributes = append(attributes, semconv.HTTPRoute(route))
	}
	if a.Delivery != "" {
		attributes = append(attributes, attribute.String("riskdex.delivery", a.Delivery))
	}
	if a.Reason != "" {
		attributes = append(attributes, attribute.String("riskdex.reason", a.Reason))
	}
	if a.Status >= http.StatusInternalServerError {
		attributes = append(attributes, semconv.ErrorTypeKey.String(a.Reason))
		span.SetStatus(codes.Error, "")
	}
	span.SetName(name)
	span.SetAttributes(attributes...)
}

// route returns the path pattern of the call that was answered; "" where it was none of the
// nine.
func (r *Receiver) route(a report.Answered) string {
	if a.Kind == "" || a.Reason == reasonPath || a.Reason == reasonMethod {
		return ""
	}
	route := r.prefix + "/" + string(a.Kind)
	if a.Method != http.MethodPost {
		route += "/:id"
	}
	return route
}

func methodAttribute(method string) attribute.KeyValue {
	if method = methodLabel(method); method == otherMethod {
		return semconv.HTTPRequestMethodOther
	}
	return semconv.HTTPRequestMethodKey.String(method)
}

// traceOf returns the traceparent for the changes of this request; "" where its trace is not
// recorded.
func traceOf(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier.Get("traceparent")
}
