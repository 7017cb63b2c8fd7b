// Package traces decodes the spans that riskdex exports with the decoder of OpenTelemetry's
// collector.
package traces

import (
	"io"
	"math"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"riskdex/internal/otlp"
	"riskdex/internal/testkit/require"
)

// collector decodes what is posted, and answers as a collector does.
type collector struct {
	received ptraceotlp.ExportRequest
	answer   ptraceotlp.ExportResponse
}

func (c *collector) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	c.received = ptraceotlp.NewExportRequest()
	status := http.StatusOK
	if err := c.received.UnmarshalJSON(body); err != nil {
		status = http.StatusBadRequest
	}
	answer, err := c.answer.MarshalJSON()
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Body: io.NopCloser(strings.NewReader(string(answer)))}, err
}

func newCollector() (*collector, *otlp.Exporter) {
	c := &collector{answer: ptraceotlp.NewExportResponse()}
	return c, otlp.New(otlp.Config{URL: "http://collector/v1/traces", Transport: c})
}

// TestTheCollectorReadsSpans: the collector decodes every part of a span unchanged.
func TestTheCollectorReadsSpans(t *testing.T) {
	state, err := trace.ParseTraceState("vendor=a,other=b")
	require.NoError(t, err)
	inTrace := func(span byte, remote bool) trace.SpanContext {
		return trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: trace.TraceID{0xab, 15: 1}, SpanID: trace.SpanID{0xcd, 7: span},
			TraceFlags: trace.FlagsSampled, TraceState: state, Remote: remote,
		})
	}
	attributes := []attribute.KeyValue{
		attribute.Bool("bool", true), attribute.Int64("int", math.MinInt64), attribute.Float64("float", 1.5),
		attribute.Float64("infinite", math.Inf(-1)), attribute.String("string", "Zürich \"<&>\"\u2028"),
		attribute.String("invalid", "a\xffb"), attribute.BoolSlice("bools", []bool{true, false}),
		attribute.Int64Slice("ints", []int64{math.MaxInt64}), attribute.Float64Slice("floats", []float64{0.25}),
		attribute.StringSlice("strings", []string{"a", ""}), attribute.StringSlice("none", nil),
		attribute.ByteSlice("bytes", []byte{0, 255}), attribute.Map("map", attribute.Int("a", 1)),
		attribute.Slice("mixed", attribute.IntValue(1), attribute.StringValue("b")), {Key: "empty"},
	}
	want := map[string]any{
		"bool": true, "int": int64(math.MinInt64), "float": 1.5, "infinite": math.Inf(-1), "string": "Zürich \"<&>\"\u2028",
		"invalid": "a\ufffdb", "bools": []any{true, false}, "ints": []any{int64(math.MaxInt64)}, "floats": []any{0.25},
		"strings": []any{"a", ""}, "none": []any{}, "bytes": []byte{0, 255}, "map": map[string]any{"a": int64(1)},
		"mixed": []any{int64(1), "b"}, "empty": nil,
	}
	begin, end := time.Unix(1_800_000_000, 123), time.Unix(1_800_000_001, 456)
	stub := tracetest.SpanStub{
		Name: "PUT /cities/:id", SpanContext: inTrace(1, false), Parent: inTrace(2, true), SpanKind: trace.SpanKindServer,
		StartTime: begin, EndTime: end, Attributes: attributes, DroppedAttributes: 1, DroppedEvents: 2, DroppedLinks: 3,
		Events:               []sdktrace.Event{{Name: "event", Time: end, Attributes: attributes, DroppedAttributeCount: 4}},
		Links:                []sdktrace.Link{{SpanContext: inTrace(3, true), Attributes: attributes, DroppedAttributeCount: 5}},
		Status:               sdktrace.Status{Code: codes.Error, Description: "why"},
		Resource:             resource.NewWithAttributes("https://schema/resource", attributes...),
		InstrumentationScope: instrumentation.Scope{Name: "riskdex", Version: "v1", SchemaURL: "https://schema/scope", Attributes: attribute.NewSet(attributes...)},
	}
	c, exporter := newCollector()
	require.NoError(t, exporter.ExportSpans(t.Context(), tracetest.SpanStubs{stub}.Snapshots()))

	same := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	all := func(what string, got pcommon.Map) {
		t.Helper()
		same("attributes of the "+what, got.AsRaw(), want)
	}
	spans := c.received.Traces().ResourceSpans()
	if c.received.Traces().SpanCount() != 1 {
		t.Fatalf("the collector received %d spans, want 1", c.received.Traces().SpanCount())
	}
	made := spans.At(0)
	all("resource", made.Resource().Attributes())
	same("schema of the resource", made.SchemaUrl(), "https://schema/resource")
	scope := made.ScopeSpans().At(0)
	all("scope", scope.Scope().Attributes())
	same("scope", []string{scope.Scope().Name(), scope.Scope().Version(), scope.SchemaUrl()}, []string{"riskdex", "v1", "https://schema/scope"})
	span := scope.Spans().At(0)
	all("span", span.Attributes())
	same("name", span.Name(), stub.Name)
	same("kind", span.Kind().String(), "Server")
	same("trace", trace.TraceID(span.TraceID()), stub.SpanContext.TraceID())
	same("id", trace.SpanID(span.SpanID()), stub.SpanContext.SpanID())
	same("parent", trace.SpanID(span.ParentSpanID()), stub.Parent.SpanID())
	same("state of the trace", span.TraceState().AsRaw(), state.String())
	same("flags", span.Flags(), uint32(0x301)) // sampled; the parent is known to be remote
	same("begin", span.StartTimestamp().AsTime(), begin.UTC())
	same("end", span.EndTimestamp().AsTime(), end.UTC())
	same("dropped", []uint32{span.DroppedAttributesCount(), span.DroppedEventsCount(), span.DroppedLinksCount()}, []uint32{1, 2, 3})
	same("status", []string{span.Status().Code().String(), span.Status().Message()}, []string{"Error", "why"})
	event := span.Events().At(0)
	all("event", event.Attributes())
	same("event", []any{event.Name(), event.Timestamp().AsTime(), event.DroppedAttributesCount()}, []any{"event", end.UTC(), uint32(4)})
	link := span.Links().At(0)
	all("link", link.Attributes())
	same("link", []any{trace.TraceID(link.TraceID()), trace.SpanID(link.SpanID()), link.TraceState().AsRaw(), link.Flags(), link.DroppedAttributesCount()},
		[]any{stub.Links[0].SpanContext.TraceID(), stub.Links[0].SpanContext.SpanID(), state.String(), uint32(0x301), uint32(5)})
}

// TestTheCollectorReadsEveryKindAndStatus: the numbers of statuses differ between the SDK and OTLP.
// The spans have no parent and no times.
func TestTheCollectorReadsEveryKindAndStatus(t *testing.T) {
	var stubs tracetest.SpanStubs
	kinds := []trace.SpanKind{trace.SpanKindUnspecified, trace.SpanKindInternal, trace.SpanKindServer, trace.SpanKindClient, trace.SpanKindProducer, trace.SpanKindConsumer}
	for _, kind := range kinds {
		stubs = append(stubs, tracetest.SpanStub{SpanKind: kind, Status: sdktrace.Status{Code: codes.Code(int(kind) % 3)}})
	}
	c, exporter := newCollector()
	require.NoError(t, exporter.ExportSpans(t.Context(), stubs.Snapshots()))
	spans := c.received.Traces().ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	for i, kind := range kinds {
		if want := kind.String(); !strings.EqualFold(spans.At(i).Kind().String(), want) {
			t.Errorf("the kind %s is read as %s", want, spans.At(i).Kind())
		}
		if want := stubs[i].Status.Code.String(); spans.At(i).Status().Code().String() != want {
			t.Errorf("the status %s is read as %s", want, spans.At(i).Status().Code())
		}
		if !spans.At(i).ParentSpanID().IsEmpty() || spans.At(i).StartTimestamp() != 0 {
			t.Errorf("span %d has the parent %s and began at %d, want none and 0", i, spans.At(i).ParentSpanID(), spans.At(i).StartTimestamp())
		}
	}
}

func TestPartialSuccessOfTheCollector(t *testing.T) {
	c, exporter := newCollector()
	c.answer.PartialSuccess().SetRejectedSpans(3)
	c.answer.PartialSuccess().SetErrorMessage("too old")
	err := exporter.ExportSpans(t.Context(), tracetest.SpanStubs{{}}.Snapshots())
	if err == nil || !strings.Contains(err.Error(), "3 spans of a batch: too old") {
		t.Errorf(`the error is %v, want "3 spans of a batch: too old"`, err)
	}
}
