package receiver

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"riskdex/internal/requestid"
)

const (
	sampled   = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
)

// traced is a receiver that keeps its spans, which are complete when ServeHTTP returns.
type traced struct {
	*recorder
	t        *testing.T
	receiver *Receiver
	spans    *tracetest.InMemoryExporter
}

func openTraced(t *testing.T, options ...sdktrace.TracerProviderOption) *traced {
	t.Helper()
	d := &traced{recorder: &recorder{}, t: t, spans: tracetest.NewInMemoryExporter()}
	provider := sdktrace.NewTracerProvider(append(options, sdktrace.WithSyncer(d.spans))...)
	cfg := DefaultConfig()
	cfg.Prefix, cfg.MaxBody, cfg.Tracer = "/api/v1", 1<<10, provider.Tracer("riskdex")
	now := func() time.Time { return time.Unix(1_800_000_000, 0) }
	var err error
	if d.receiver, err = New(cfg, d.recorder, now, prometheus.NewRegistry(), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return d
}

// send makes a delivery, and returns its spans.
func (d *traced) send(method, path, body string, header ...string) tracetest.SpanStubs {
	d.spans.Reset()
	req := httptest.NewRequest(method, "/api/v1"+path, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	d.receiver.ServeHTTP(httptest.NewRecorder(), req)
	return d.spans.GetSpans()
}

func attributes(s tracetest.SpanStub) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes {
		all[string(a.Key)] = a.Value.String()
	}
	return all
}

func TestRequestsAreSpans(t *testing.T) {
	d := openTraced(t)
	for _, c := range []struct {
		method, path, body string
		broken             error
		name               string
		attributes         string
		status             codes.Code
	}{
		{"POST", "/cities", `[{"id":1},{"id":2},{"t":"x"}]`, nil, "POST /api/v1/cities",
			"http.request.method=POST http.response.status_code=202 http.route=/api/v1/cities riskdex.changes=2 riskdex.delivery=1-1-2-c56f riskdex.kind=cities riskdex.refused=1", codes.Unset},
		{"PUT", "/advisories/a-stranger", `{"t":"x"}`, nil, "PUT /api/v1/advisories/:id",
			"http.request.method=PUT http.response.status_code=202 http.route=/api/v1/advisories/:id riskdex.changes=1 riskdex.delivery=1-0-1-5da4 riskdex.kind=advisories riskdex.refused=0", codes.Unset},
		{"DELETE", "/cities/1", "", errors.New("no disk"), "DELETE /api/v1/cities/:id",
			"error.type=journal http.request.method=DELETE http.response.status_code=503 http.route=/api/v1/cities/:id riskdex.changes=0 riskdex.kind=cities riskdex.reason=journal riskdex.refused=0", codes.Error},
		{"PUT", "/cities/1", "{", nil, "PUT /api/v1/cities/:id",
			"http.request.method=PUT http.response.status_code=400 http.route=/api/v1/cities/:id riskdex.changes=0 riskdex.kind=cities riskdex.reason=invalid_json riskdex.refused=0", codes.Unset},
		{"BREW", "/a-stranger", "", nil, "HTTP",
			"http.request.method=_OTHER http.response.status_code=404 riskdex.changes=0 riskdex.kind=none riskdex.reason=unknown_path riskdex.refused=0", codes.Unset},
		{"POST", "/cities/1", "{}", nil, "POST",
			"http.request.method=POST http.response.status_code=405 riskdex.changes=0 riskdex.kind=cities riskdex.reason=wrong_method riskdex.refused=0", codes.Unset},
	} {
		d.err = c.broken
		spans := d.send(c.method, c.path, c.body)
		if len(spans) != 1 {
			t.Fatalf("%s %s made %d spans, want one", c.method, c.path, len(spans))
		}
		s := spans[0]
		if s.Name != c.name || s.SpanKind != trace.SpanKindServer || s.Status.Code != c.status || s.Parent.IsValid() {
			t.Errorf("%s %s made the span %q of kind %v with the status %v under %v", c.method, c.path, s.Name, s.SpanKind, s.Status, s.Parent)
		}
		if got := attributes(s); !maps.Equal(got, parseAttributes(c.attributes)) {
			t.Errorf("%s %s: %v, want %s", c.method, c.path, got, c.attributes)
		}
	}
}

// TestSpanHasTheRequestID that the answer has.
func TestSpanHasTheRequestID(t *testing.T) {
	d := openTraced(t)
	answer := httptest.NewRecorder()
	req := httptest.NewRequest("PUT", "/api/v1/cities/1", strings.NewReader("{"))
	requestid.Handler(d.receiver, func() string { return "new-1" }).ServeHTTP(answer, req)
	if got := attributes(d.spans.GetSpans()[0])["riskdex.request_id"]; got != "new-1" || got != answer.Header().Get(requestid.Header) {
		t.Errorf("the span has the request id %q, want that of the answer: %v", got, answer.Header())
	}
}

func parseAttributes(text string) map[string]string {
	all := map[string]string{}
	for field := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(field, "=")
		all[key] = value
	}
	return all
}

func TestChangesNameTheTraceOfTheirDelivery(t *testing.T) {
	d := openTraced(t)
	spans := d.send("POST", "/cities", `[{"id":1},{"id":2}]`, "traceparent", sampled, "tracestate", "vendor=x")
	if len(spans) != 1 {
		t.Fatalf("%d spans, want one", len(spans))
	}
	s := spans[0].SpanContext
	if got := spans[0].Parent; got.TraceID().String() != sampled[3:35] || got.SpanID().String() != sampled[36:52] || !got.IsRemote() || got.TraceState().String() != "vendor=x" {
		t.Errorf("the parent of the span is %v", got)
	}
	if s.TraceID().String() != sampled[3:35] {
		t.Errorf("the span is in the trace %v", s.TraceID())
	}
	want := fmt.Sprintf("00-%s-%s-01", s.TraceID(), s.SpanID())
	if changes := d.changes(); len(changes) != 2 || changes[0].Trace != want || changes[1].Trace != want {
		t.Errorf("changes %+v, want the trace %s", changes, want)
	}
}

// An invalid traceparent begins a new trace, and the delivery is accepted.
func TestMalformedTraceparent(t *testing.T) {
	for _, text := range []string{
		"", "x", "00-00000000000000000000000000000000-00f067aa0ba902b7-01", sampled[:54], strings.ToUpper(sampled),
		"ff" + sampled[2:], sampled + "-and-more", strings.Repeat("0", 100_000), "00-\x00", "ü",
	} {
		d := openTraced(t)
		spans := d.send("PUT", "/cities/1", `{"t":1}`, "traceparent", text, "tracestate", "=,=,=")
		if len(spans) != 1 || spans[0].Parent.IsValid() || attributes(spans[0])["http.response.status_code"] != "202" {
			t.Errorf("%.80q made the spans %+v, want one without a parent", text, spans)
		}
		if changes := d.changes(); len(changes) != 1 || len(changes[0].Trace) != len(sampled) {
			t.Errorf("%.80q made the changes %+v", text, changes)
		}
	}
}

// What is not recorded leaves nothing behind.
func TestUnsampledDelivery(t *testing.T) {
	for name, d := range map[string]*traced{
		"by the sender":  openTraced(t),
		"by the sampler": openTraced(t, sdktrace.WithSampler(sdktrace.NeverSample())),
	} {
		spans := d.send("PUT", "/cities/1", `{"t":1}`, "traceparent", unsampled)
		if changes := d.changes(); len(spans) != 0 || len(changes) != 1 || changes[0].Trace != "" {
			t.Errorf("%s: spans %v, changes %+v", name, spans, changes)
		}
	}
}

// Without a tracer, the traceparent of a sender is ignored.
func TestNoTracerNoTrace(t *testing.T) {
	d := open(t, nil)
	if got := d.send("PUT", "/cities/1", `{"t":1}`, "traceparent", sampled); got.status != http.StatusAccepted {
		t.Fatalf("status %d", got.status)
	}
	if changes := d.changes(); len(changes) != 1 || changes[0].Trace != "" {
		t.Errorf("changes %+v", changes)
	}
}

// An internal error of riskdex is an error of the span.
func TestPanicIsInTheSpan(t *testing.T) {
	d := openTraced(t)
	d.receiver.journal = nil
	spans := d.send("PUT", "/cities/1", `{"t":1}`)
	if len(spans) != 1 || spans[0].Status.Code != codes.Error || attributes(spans[0])["error.type"] != "internal" {
		t.Errorf("spans %+v", spans)
	}
}
