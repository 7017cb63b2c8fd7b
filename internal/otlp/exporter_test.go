package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"riskdex/internal/testkit/require"
)

var _ sdktrace.SpanExporter = (*Exporter)(nil)

// answers is a collector that gives its answers in turn, and then repeats the last one.
type answers struct {
	in   []func() (*http.Response, error)
	sent []time.Duration // times of the requests, since the first one
	req  *http.Request   // the last request, and its body
	body []byte
	from time.Time
}

func (a *answers) RoundTrip(req *http.Request) (*http.Response, error) {
	if len(a.sent) == 0 {
		a.from = time.Now()
	}
	a.sent = append(a.sent, time.Since(a.from))
	var err error
	if a.body, err = io.ReadAll(req.Body); err != nil {
		return nil, err
	}
	a.req = req
	return a.in[min(len(a.sent), len(a.in))-1]()
}

func says(status int, body string, header ...string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		res := &http.Response{StatusCode: status, Status: http.StatusText(status), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
		for i := 0; i < len(header); i += 2 {
			res.Header.Set(header[i], header[i+1])
		}
		return res, nil
	}
}

func away() (*http.Response, error) { return nil, errors.New("connection refused") }

var spans = tracetest.SpanStubs{{Name: "a"}}.Snapshots()

func TestRetries(t *testing.T) {
	type turn = func() (*http.Response, error)
	for name, c := range map[string]struct {
		answers []turn
		within  time.Duration // deadline of the export; 0 means none
		sent    int           // number of requests; -1 means several
		err     string        // part of the error
	}{
		"accepted":                      {[]turn{says(200, "{}")}, 0, 1, ""},
		"away for a moment":             {[]turn{away, away, says(200, "")}, 0, 3, ""},
		"overloaded for a moment":       {[]turn{says(429, ""), says(502, ""), says(503, ""), says(504, ""), says(202, "")}, 0, 5, ""},
		"away":                          {[]turn{away}, 0, -1, "connection refused"},
		"overloaded":                    {[]turn{says(503, "too\nmuch")}, 0, -1, "Service Unavailable: too much"},
		"away until the deadline":       {[]turn{away}, 2 * time.Second, 1, "connection refused"},
		"refused":                       {[]turn{says(400, "no such field"), says(200, "")}, 0, 1, "Bad Request: no such field"},
		"wrong credentials":             {[]turn{says(401, ""), says(200, "")}, 0, 1, "Unauthorized: nothing more"},
		"an error that is not retried":  {[]turn{says(500, ""), says(200, "")}, 0, 1, "Internal Server Error"},
		"asked to wait for too long":    {[]turn{says(429, "", "Retry-After", "3600"), says(200, "")}, 0, 1, "Too Many Requests"},
		"partial success":               {[]turn{says(200, `{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}`)}, 0, 1, "rejects 2 spans of a batch: too old"},
		"partial success, as a number":  {[]turn{says(200, `{"partialSuccess":{"rejectedSpans":2}}`)}, 0, 1, "rejects 2 spans"},
		"success with a warning":        {[]turn{says(200, `{"partialSuccess":{"errorMessage":"use TLS"}}`)}, 0, 1, "0 spans of a batch: use TLS"},
		"nothing rejected":              {[]turn{says(200, `{"partialSuccess":{"rejectedSpans":"0"}}`)}, 0, 1, ""},
		"an answer that is not JSON":    {[]turn{says(200, "thanks")}, 0, 1, ""},
		"a redirect that leads nowhere": {[]turn{says(302, "")}, 0, 1, "Found"},
		"a redirect to another host":    {[]turn{says(307, "", "Location", "http://other/"), says(200, "")}, 0, 1, "Temporary Redirect"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, began := t.Context(), time.Now()
				if c.within > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.within)
					defer cancel()
				}
				collector := &answers{in: c.answers}
				err := New(Config{URL: "http://collector/v1/traces", Transport: collector}).ExportSpans(ctx, spans)
				if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
					t.Errorf("the error is %v, want %q", err, c.err)
				}
				if n := len(collector.sent); c.sent > 0 && n != c.sent || c.sent < 0 && n < 3 {
					t.Errorf("%d requests, at %v; want %d (-1: three or more)", n, collector.sent, c.sent)
				}
				if took := time.Since(began); took > time.Minute {
					t.Errorf("the export took %v, want a minute at most", took)
				}
			})
		})
	}
}

func TestRetryAfter(t *testing.T) {
	for name, header := range map[string]func() string{
		"seconds": func() string { return "40" },
		"date":    func() string { return time.Now().Add(40 * time.Second).UTC().Format(http.TimeFormat) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				collector := &answers{in: []func() (*http.Response, error){says(429, "", "Retry-After", header()), says(200, "")}}
				require.NoError(t, New(Config{URL: "http://collector", Transport: collector}).ExportSpans(t.Context(), spans))
				if len(collector.sent) != 2 || collector.sent[1] != 40*time.Second {
					t.Errorf("requests at %v, want them at 0 and 40s", collector.sent)
				}
			})
		})
	}
}

// TestExportEndsWithItsContext: the end of the context ends the pause before the next attempt.
func TestExportEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		err := New(Config{URL: "http://collector", Transport: &answers{in: []func() (*http.Response, error){away}}}).ExportSpans(ctx, spans)
		if !errors.Is(err, context.Canceled) || time.Since(began) != time.Second {
			t.Errorf("after %v the error is %v, want context.Canceled after 1s", time.Since(began), err)
		}
	})
}

func TestErrorsNameNoKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := New(Config{URL: "http://collector/?key=secret", Transport: &answers{in: []func() (*http.Response, error){away}}}).ExportSpans(t.Context(), spans)
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "collector: connection refused") {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestRequest(t *testing.T) {
	for _, compressed := range []bool{false, true} {
		collector := &answers{in: []func() (*http.Response, error){says(200, "{}")}}
		headers := http.Header{"Api-Key": {"secret"}, "Content-Type": {"text/plain"}, "User-Agent": {"mine"}}
		e := New(Config{URL: "http://collector/here?a=b", Headers: headers, Gzip: compressed, Transport: collector})
		require.NoError(t, e.ExportSpans(t.Context(), spans))
		r, body := collector.req, collector.body
		want := map[string]string{"Api-Key": "secret", "Content-Type": "application/json", "User-Agent": "mine", "Content-Encoding": ""}
		if compressed {
			want["Content-Encoding"] = "gzip"
			z, err := gzip.NewReader(bytes.NewReader(body))
			require.NoError(t, err)
			body, err = io.ReadAll(z)
			require.NoError(t, err)
		}
		for name, value := range want {
			if got := r.Header.Get(name); got != value {
				t.Errorf("%s is %q, want %q", name, got, value)
			}
		}
		if r.Method != http.MethodPost || r.URL.String() != "http://collector/here?a=b" || !json.Valid(body) {
			t.Errorf("the request is %s %s %s, want a POST of JSON to http://collector/here?a=b", r.Method, r.URL, body)
		}
		require.NoError(t, e.ExportSpans(t.Context(), nil))
		require.NoError(t, e.Shutdown(t.Context()))
		if len(collector.sent) != 1 {
			t.Errorf("%d requests, want 1: an empty batch is not sent", len(collector.sent))
		}
	}
}

// TestSpansAreGrouped by their resource and scope.
func TestSpansAreGrouped(t *testing.T) {
	stubs := tracetest.SpanStubs{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	stubs[1].InstrumentationScope.Name = "other"
	text, err := encode(stubs.Snapshots())
	require.NoError(t, err)
	var in struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Scope struct{ Name string }
				Spans []struct{ Name string }
			}
		}
	}
	require.NoError(t, json.Unmarshal(text, &in))
	var got []string
	for _, r := range in.ResourceSpans {
		for _, s := range r.ScopeSpans {
			for _, span := range s.Spans {
				got = append(got, s.Scope.Name+":"+span.Name)
			}
		}
	}
	slices.Sort(got)
	if len(in.ResourceSpans) != 2 || !slices.Equal(got, []string{":a", ":c", "other:b"}) {
		t.Errorf("two groups of spans are encoded as %s", text)
	}
}
