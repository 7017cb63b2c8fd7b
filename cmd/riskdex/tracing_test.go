package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"riskdex/internal/loglimit"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
)

// sentSpan is what these tests want of a span in OTLP's JSON. Another module holds all of it
// against the decoder of the collector (internal/tools/manifests/traces).
type sentSpan struct {
	TraceID, SpanID, ParentSpanID, Name string
	Kind                                int
	StartTimeUnixNano, EndTimeUnixNano  int64 `json:",string"`
	Links                               []struct{ TraceID, SpanID string }
	Attributes                          []sentAttribute
}

const spanKindServer = 2

type sentAttribute struct {
	Key   string
	Value struct{ StringValue string }
}

// collector receives spans as OTLP over HTTP.
type collector struct {
	*httptest.Server
	mu       sync.Mutex
	requests int
	service  string
	spans    []sentSpan
	refused  []error
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := new(collector)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.requests++
		var in struct {
			ResourceSpans []struct {
				Resource   struct{ Attributes []sentAttribute }
				ScopeSpans []struct{ Spans []sentSpan }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/traces" {
			c.refused = append(c.refused, errors.Join(err, errors.New(r.URL.Path)))
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for _, resource := range in.ResourceSpans {
			for _, a := range resource.Resource.Attributes {
				if a.Key == "service.name" {
					c.service = a.Value.StringValue
				}
			}
			for _, scope := range resource.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// taken returns how many requests came since the last call.
func (c *collector) taken() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.requests
	c.requests = 0
	return n
}

// span returns the only span of a trace whose name begins with name.
func (c *collector) span(t *testing.T, trace, name string) sentSpan {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []sentSpan
	for _, s := range c.spans {
		if s.TraceID == trace && strings.HasPrefix(s.Name, name) {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d spans %q of the trace %s; there are %v; refused %v", len(found), name, trace, c.spans, c.refused)
	}
	return found[0]
}

func linksTo(from, to sentSpan) bool {
	for _, l := range from.Links {
		if l.TraceID == to.TraceID && l.SpanID == to.SpanID {
			return true
		}
	}
	return false
}

func spanAttribute(s sentSpan, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.StringValue
		}
	}
	return ""
}

// sendTraced makes a delivery that names the trace of its sender.
func (p *process) sendTraced(trace, method, path, body string) {
	p.t.Helper()
	req, err := http.NewRequest(method, "http://"+p.deliveries+path, strings.NewReader(body))
	require.NoError(p.t, err)
	req.Header.Set("traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	res, err := p.sender.Do(req)
	require.NoError(p.t, err)
	res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		p.t.Fatalf("%s %s: %s", method, path, res.Status)
	}
}

// logged returns the line of the log for a trace whose message begins with message.
func (p *process) logged(trace, message string) map[string]any {
	for line := range strings.Lines(p.log.String()) {
		var entry map[string]any
		if json.Unmarshal([]byte(line), &entry) != nil {
			continue
		}
		if text, _ := entry["msg"].(string); entry["trace_id"] == trace && strings.HasPrefix(text, message) {
			return entry
		}
	}
	return nil
}

// A delivery can be traced from its request to the end of its change, even if riskdex
// restarts or Elasticsearch is down in between.
func TestDeliveryIsTracedToItsEnd(t *testing.T) {
	const good, bad = "4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c"
	c := newCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	real := elastictest.URL(t)
	p := newProcess(t, "http://127.0.0.1:1", "--log-format", "json", "--log-level", "debug", "--mappings", narrowMappings(t))
	p.start()
	p.sendTraced(good, "PUT", "/cities/1", cityBody(1, "to be followed"))
	p.sendTraced(bad, "PUT", "/advisories/1", `{"id":1,"risk_label":"no number"}`)
	if status := p.terminate(); status != exitDone {
		t.Errorf("exit status %d", status)
	}
	for trace, name := range map[string]string{good: "PUT /cities/:id", bad: "PUT /advisories/:id"} {
		server := c.span(t, trace, "PUT ") // sent before the process ended
		if server.Name != name || server.Kind != spanKindServer || server.ParentSpanID != "00f067aa0ba902b7" {
			t.Errorf("the request is the span %v", server)
		}
		if p.logged(trace, "delivery accepted")["span_id"] != server.SpanID {
			t.Error("the log does not say that the delivery was accepted")
		}
	}
	p.elasticsearch = real
	p.start()
	p.drained()
	if status := p.terminate(); status != exitDone {
		t.Errorf("exit status %d", status)
	}
	for trace, outcome := range map[string]string{good: "indexed", bad: "dead"} {
		server, bulk, settled := c.span(t, trace, "PUT "), c.span(t, trace, "bulk "), c.span(t, trace, "settle ")
		if settled.ParentSpanID != server.SpanID || !linksTo(settled, bulk) || !linksTo(bulk, server) {
			t.Errorf("the spans are not linked: request %v, bulk %v, settlement %v", server, bulk, settled)
		}
		if settled.StartTimeUnixNano >= server.EndTimeUnixNano || settled.EndTimeUnixNano <= bulk.StartTimeUnixNano {
			t.Errorf("it went on from %d to %d, in the request that ended at %d until the bulk of %d",
				settled.StartTimeUnixNano, settled.EndTimeUnixNano, server.EndTimeUnixNano, bulk.StartTimeUnixNano)
		}
		if got := spanAttribute(settled, "riskdex.outcome"); got != outcome {
			t.Errorf("the outcome is %q, want %q", got, outcome)
		}
	}
	if line := p.logged(bad, "dead letter"); line["kind"] != "advisories" {
		t.Error("the dead letter is logged without its trace")
	}
	if c.service != "riskdex" {
		t.Errorf("the service is %q", c.service)
	}
}

// goroutines returns the stacks of all goroutines of the process.
func (p *process) goroutines() string {
	p.t.Helper()
	res, err := http.Get("http://" + p.admin + "/debug/pprof/goroutine?debug=2")
	require.NoError(p.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(p.t, err)
	return string(text)
}

// Unless tracing is asked for, there is no request to a collector, no goroutine, and no
// trace in the log.
func TestTracingIsOffByDefault(t *testing.T) {
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	c := newCollector(t)
	for name, off := range map[string]bool{"": true, "none": true, "otlp": false} {
		t.Run("OTEL_TRACES_EXPORTER="+name, func(t *testing.T) {
			for _, variable := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
				t.Setenv(variable, "")
			}
			t.Setenv("OTEL_TRACES_EXPORTER", name)
			if name != "" {
				t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", c.URL+"/v1/traces")
			}
			p := newProcess(t, elastictest.URL(t), "--log-format", "json", "--log-level", "debug")
			p.start()
			p.sendTraced(trace, "PUT", "/cities/1", cityBody(1, "x"))
			p.drained()
			if has := strings.Contains(p.goroutines(), "opentelemetry"); has == off {
				t.Errorf("goroutines of OpenTelemetry: %v", has)
			}
			p.terminate()
			if sent := c.taken() > 0; sent == off {
				t.Errorf("spans are sent: %v, want the opposite", sent)
			}
			if logged := p.logged(trace, "delivery accepted") != nil; logged == off {
				t.Errorf("the log has the trace: %v, want the opposite", logged)
			}
		})
	}
}

// A collector that is down delays nothing, and is mentioned once.
func TestCollectorIsAway(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
	t.Setenv("OTEL_BSP_EXPORT_TIMEOUT", "50")
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "2")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
	p := newProcess(t, elastictest.URL(t))
	p.start()
	for i := range 100 {
		if status := p.send("PUT", "/cities/1", cityBody(1, strings.Repeat("x", i))); status != http.StatusAccepted {
			t.Fatalf("status %d", status)
		}
	}
	p.drained()
	if status := p.terminate(); status != exitDone {
		t.Errorf("exit status %d", status)
	}
	if n := strings.Count(p.log.String(), "spans are not sent"); n != 1 {
		t.Errorf("%d messages say that the collector is away, want one", n)
	}
	for line := range strings.Lines(p.log.String()) {
		if !strings.HasPrefix(line, "time=") {
			t.Errorf("not a line of the log: %q", line)
		}
	}
}

func TestTracesWanted(t *testing.T) {
	for _, c := range []struct {
		env     string
		wanted  bool
		problem string // a part of its text
	}{
		{"", false, ""},
		{"OTEL_SERVICE_NAME=x OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://c:4318", false, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", true, ""},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://c:4318/v1/traces", true, ""},
		{"OTEL_TRACES_EXPORTER=otlp", true, ""},
		{"OTEL_TRACES_EXPORTER=console,otlp", true, ""},
		{"OTEL_TRACES_EXPORTER=none OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", false, ""},
		{"OTEL_TRACES_EXPORTER=jaeger OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", false, "jaeger"},
		{"OTEL_SDK_DISABLED=True OTEL_TRACES_EXPORTER=otlp", false, ""},
		{"OTEL_SDK_DISABLED=false OTEL_TRACES_EXPORTER=otlp", true, ""},
		{"OTEL_TRACES_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=grpc", false, "4318"},
		{"OTEL_EXPORTER_OTLP_PROTOCOL=grpc", false, ""},
		{"OTEL_TRACES_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json", true, ""},
		{"OTEL_TRACES_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf", true, "http/json"},
	} {
		env := map[string]string{}
		for pair := range strings.FieldsSeq(c.env) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		wanted, problem := tracesWanted(func(name string) string { return env[name] })
		if wanted != c.wanted || (problem == "") != (c.problem == "") || !strings.Contains(problem, c.problem) {
			t.Errorf("%s: tracing wanted: %v, problem %q", c.env, wanted, problem)
		}
	}
}

func TestExportErrorsAreSaidNowAndThen(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(1_800_000_000, 0)
	e := &exportErrors{log: slog.New(slog.NewTextHandler(&out, nil)), now: func() time.Time { return now }, limit: loglimit.Limiter{Every: exportErrorEvery}}
	for minute := range 11 {
		for range 10 {
			e.Handle(errors.New("no collector"))
		}
		e.Handle(context.Canceled)
		if said := strings.Count(out.String(), "no collector"); said != 1+minute/5 {
			t.Errorf("after %d minutes there are %d messages", minute, said)
		}
		now = now.Add(time.Minute)
	}
}
