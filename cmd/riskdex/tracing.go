package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"riskdex/internal/loglimit"
	"riskdex/internal/otlp"
)

// stopTracing bounds how long a stop waits for the collector to accept the last spans.
const stopTracing = 3 * time.Second

// tracing sends spans to a collector, as configured by the standard variables of
// OpenTelemetry. A nil *tracing makes and sends no spans.
type tracing struct {
	provider *sdktrace.TracerProvider
}

// startTracing returns nil unless the environment asks for traces. If it asks for something
// that riskdex cannot do, that is a warning and not an error, as OpenTelemetry demands: better
// no traces than no deliveries.
func startTracing(ctx context.Context, log *slog.Logger) *tracing {
	wanted, problem := tracesWanted(os.Getenv)
	if !wanted {
		if problem != "" {
			log.Warn("tracing is off", "reason", problem)
		}
		return nil
	}
	cfg, err := otlp.FromEnvironment(os.Getenv)
	if err != nil {
		problem = strings.TrimPrefix(problem+"; "+strings.ReplaceAll(err.Error(), "\n", "; "), "; ")
	}
	if problem != "" {
		log.Warn("some settings of tracing are not followed", "reason", problem)
	}
	// The SDK reports problems with its settings or its collector to one logger per process,
	// which by default writes to the standard error.
	otel.SetLogger(logr.FromSlogHandler(log.Handler()))
	otel.SetErrorHandler(&exportErrors{log: log, now: time.Now, limit: loglimit.Limiter{Every: exportErrorEvery}})
	// Of two sources of an attribute, the later one wins.
	about, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName("riskdex")),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithProcessPID(), resource.WithFromEnv())
	if err != nil {
		log.Warn("spans will lack some attributes from OTEL_RESOURCE_ATTRIBUTES or the machine", "error", err)
	}
	log.Info("tracing is on")
	return &tracing{sdktrace.NewTracerProvider(sdktrace.WithBatcher(otlp.New(cfg)), sdktrace.WithResource(about))}
}

// tracesWanted reports whether the standard variables ask for traces. If they ask for
// something that riskdex does not have, problem says what. Other forms of OTLP over HTTP than
// JSON do not turn traces off, since collectors tell them apart by their Content-Type.
func tracesWanted(env func(string) string) (wanted bool, problem string) {
	if strings.EqualFold(strings.TrimSpace(env("OTEL_SDK_DISABLED")), "true") {
		return false, ""
	}
	first := func(names ...string) (name, value string) {
		for _, name := range names {
			if value := strings.TrimSpace(env(name)); value != "" {
				return name, value
			}
		}
		return "", ""
	}
	if _, exporter := first("OTEL_TRACES_EXPORTER"); exporter != "" {
		for name := range strings.SplitSeq(exporter, ",") {
			switch strings.TrimSpace(name) {
			case "otlp":
				wanted = true
			case "none", "":
			default:
				problem = fmt.Sprintf("OTEL_TRACES_EXPORTER is %q; riskdex has otlp and none", exporter)
			}
		}
	} else {
		_, endpoint := first("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
		wanted = endpoint != ""
	}
	name, protocol := first("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
	if !wanted {
		return false, problem
	}
	switch protocol {
	case "", "http/json":
		return true, ""
	case "http/protobuf":
		return true, fmt.Sprintf("%s is %q; riskdex sends http/json, which collectors accept at the same address", name, protocol)
	default:
		return false, fmt.Sprintf("%s is %q; riskdex sends http/json, usually to port 4318", name, protocol)
	}
}

// tracer returns the tracer for spans of riskdex, or nil.
func (t *tracing) tracer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer("riskdex")
}

// logger returns a logger whose lines name the trace that they belong to.
func (t *tracing) logger(log *slog.Logger) *slog.Logger {
	if t == nil {
		return log
	}
	return slog.New(traceHandler{log.Handler()})
}

// stop sends the last spans. If no collector accepts them in time, it logs that: this is not a
// failure of the stop.
func (t *tracing) stop(log *slog.Logger) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTracing)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		log.Warn("the last spans were not sent", "error", err)
	}
}

// traceHandler adds the trace and the span of the context to each line of the log.
type traceHandler struct{ slog.Handler }

func (h traceHandler) Handle(ctx context.Context, r slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		r = r.Clone()
		r.AddAttrs(slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func (h traceHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return traceHandler{h.Handler.WithAttrs(attrs)}
}

func (h traceHandler) WithGroup(name string) slog.Handler {
	return traceHandler{h.Handler.WithGroup(name)}
}

// exportErrors logs that spans cannot be sent, at most every exportErrorEvery: with a
// collector that is down, sending fails every few seconds.
type exportErrors struct {
	log   *slog.Logger
	now   func() time.Time
	limit loglimit.Limiter
}

const exportErrorEvery = 5 * time.Minute

// Handle implements otel.ErrorHandler. It is called by any number of goroutines.
func (e *exportErrors) Handle(err error) {
	if errors.Is(err, context.Canceled) {
		return // the process is stopping
	}
	if ok, _ := e.limit.Allow("", e.now()); ok {
		e.log.Warn("spans are not sent; deliveries go on as ever", "error", err, "said_again_in", exportErrorEvery)
	}
}
