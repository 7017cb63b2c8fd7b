package auth

import (
	"bytes"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"riskdex/internal/testkit/logtest"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	keyOne = "whsec_cmlza2RleC10ZXN0LWtleS1vbmUtb2YtMzItYnl0ZXM="
	keyTwo = "whsec_cmlza2RleC10ZXN0LWtleS10d28tb2YtMzItYnl0ZXM="
	body   = `{"id": 130, "code": "LON", "title": "Zürich — London"}`
)

var signedAt = time.Unix(1_800_000_000, 0)

// clock moves only when told to.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.t }

func (c *clock) set(t time.Time) { c.mu.Lock(); defer c.mu.Unlock(); c.t = t }

// gate is an authenticator behind a real HTTP server, which answers as the receiver would.
type gate struct {
	*clock
	t             *testing.T
	authenticator *Authenticator
	server        *httptest.Server
	log           *logtest.Buffer
}

func build(t *testing.T, cfg Config) *gate {
	t.Helper()
	g := &gate{t: t, clock: &clock{t: signedAt}, log: &logtest.Buffer{}}
	var err error
	if g.authenticator, err = New(cfg, g.now, slog.New(slog.NewTextHandler(g.log, nil))); err != nil {
		t.Fatal(err)
	}
	g.server = httptest.NewUnstartedServer(http.HandlerFunc(g.answer))
	return g
}

func start(t *testing.T, cfg Config) *gate {
	t.Helper()
	g := build(t, cfg)
	g.server.Start()
	t.Cleanup(g.server.Close)
	return g
}

func (g *gate) answer(w http.ResponseWriter, r *http.Request) {
	refusal := g.authenticator.Authenticate(r)
	id := ""
	if refusal == nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			g.t.Error(err)
		}
		id, refusal = g.authenticator.Verify(r, body)
	}
	if refusal == nil {
		w.Header().Set("Signed-Id", id)
		return
	}
	w.Header().Set("Cause", string(refusal.Cause))
	for _, c := range refusal.Challenges {
		w.Header().Add("WWW-Authenticate", c)
	}
	w.WriteHeader(refusal.Status)
	_, _ = io.WriteString(w, refusal.Reason+": "+refusal.Detail)
}

// send sends a request with these headers, names and values in turn.
func (g *gate) send(body string, header ...string) *http.Response {
	g.t.Helper()
	req, err := http.NewRequest("PUT", g.server.URL+"/cities/130", strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header[header[i]] = append(req.Header[header[i]], header[i+1])
	}
	res, err := g.server.Client().Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	res.Body = io.NopCloser(bytes.NewReader(text))
	return res
}

// want sends a request and compares the cause of its refusal; "" means accepted.
func (g *gate) want(what string, cause Cause, body string, header ...string) {
	g.t.Helper()
	if got := Cause(g.send(body, header...).Header.Get("Cause")); got != cause {
		g.t.Errorf("%s: %q, want %q", what, got, cause)
	}
}

// file writes a file of secrets and returns its name.
func file(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "secrets")
	write(t, name, content)
	return name
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// webhookHeader signs as a sender does.
func webhookHeader(t *testing.T, key, id, timestamp, body string) []string {
	t.Helper()
	raw, err := webhookKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		webhookID, id, webhookTimestamp, timestamp,
		webhookSignature, "v1," + base64.StdEncoding.EncodeToString(sign(raw, id, timestamp, []byte(body))),
	}
}
