// Package otlp exports trace spans to an OpenTelemetry collector, as JSON over HTTP (OTLP). It
// replaces OpenTelemetry's own exporter, which links gRPC and protobuf.
package otlp

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v4"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"riskdex/internal/sanitize"
)

// Exporter implements sdktrace.SpanExporter. Its methods may be called concurrently.
type Exporter struct {
	cfg    Config
	client *http.Client
}

// New returns an Exporter to the collector that cfg names.
func New(cfg Config) *Exporter {
	return &Exporter{cfg, &http.Client{
		Transport: cfg.Transport, Timeout: cfg.Timeout,
		// A redirect is not followed: headers may be secret.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// retryable is an error after which the same batch may be sent again.
type retryable struct {
	error
	after time.Duration // the collector asks to wait at least this long
}

// ExportSpans posts spans. While the collector is away or overloaded, it tries again with
// jittered backoff, until ctx ends or for a minute. It returns the last error, also if the
// collector rejects some of the spans or answers with a warning.
func (e *Exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	body, err := encode(spans)
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	if e.cfg.Gzip {
		var compressed bytes.Buffer
		w := gzip.NewWriter(&compressed)
		if _, err := w.Write(body); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		body = compressed.Bytes()
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	deadline, _ := ctx.Deadline()
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(5*time.Second),
		backoff.WithMaxInterval(30*time.Second), backoff.WithMaxElapsedTime(0))
	for {
		var again retryable
		if err := e.post(ctx, body); !errors.As(err, &again) {
			return err
		}
		wait := max(pause.NextBackOff(), again.after)
		if time.Until(deadline) < wait {
			return again.error
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// post makes one attempt.
func (e *Exporter) post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.cfg.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "riskdex")
	maps.Copy(req.Header, e.cfg.Headers)
	req.Header.Set("Content-Type", "application/json")
	if e.cfg.Gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	res, err := e.client.Do(req)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // without the URL, whose query may have a key in it
		}
		return retryable{error: fmt.Errorf("send spans to %s: %w", req.URL.Host, err)}
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<10)) // answers are far shorter
	if res.StatusCode/100 != 2 {
		err := fmt.Errorf("the collector answers %s: %s", res.Status, cmp.Or(sanitize.Text(300, string(text)), "nothing more"))
		if slices.Contains([]int{429, 502, 503, 504}, res.StatusCode) {
			return retryable{err, retryAfter(res.Header.Get("Retry-After"))}
		}
		return err
	}
	if err != nil {
		return fmt.Errorf("read the collector's answer: %w", err)
	}
	return partialSuccess(text)
}

// retryAfter returns how long a Retry-After header asks to wait; 0 if it cannot be read.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(header); err == nil {
		return time.Until(date)
	}
	return 0
}

// partialSuccess returns an error if the collector's answer rejects spans or has a warning.
func partialSuccess(answer []byte) error {
	var in struct {
		PartialSuccess struct {
			RejectedSpans any // a string; some collectors send a number
			ErrorMessage  string
		}
	}
	if json.Unmarshal(answer, &in) != nil {
		return nil // accepted: the status says so
	}
	rejected, message := "0", in.PartialSuccess.ErrorMessage
	if n := in.PartialSuccess.RejectedSpans; n != nil {
		rejected = fmt.Sprint(n)
	}
	if rejected == "0" && message == "" {
		return nil
	}
	return fmt.Errorf("the collector rejects %s spans of a batch: %s", sanitize.Text(20, rejected), sanitize.Text(300, message))
}

// Shutdown closes idle connections. It never fails.
func (e *Exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}
