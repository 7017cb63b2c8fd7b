package receiver

import (
	"bytes"
	"compress/gzip"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/journal"
	"riskdex/journal/sqlite"
	"riskdex/receiver/auth"
	"riskdex/report"
)

const webhookKey = "whsec_cmlza2RleC10ZXN0LWtleS1vbmUtb2YtMzItYnl0ZXM="

// guarded is a receiver with an authenticator, on a real journal.
type guarded struct {
	*endpoint
	journal     journal.Journal
	dir         string
	auth        auth.Config
	prefix      string
	await       Await
	change      func(*Config) // may be nil
	clock       atomic.Int64  // Unix seconds; the journal reads it at any time
	credentials *auth.Credentials
	log         *bytes.Buffer
	server      *httptest.Server
}

func guard(t *testing.T, cfg auth.Config) *guarded {
	t.Helper()
	g := &guarded{endpoint: &endpoint{t: t}, dir: t.TempDir(), auth: cfg, log: new(bytes.Buffer)}
	g.clock.Store(1_800_000_000)
	var err error
	if g.credentials, err = auth.NewCredentials(cfg, g.now); err != nil {
		t.Fatal(err)
	}
	g.open()
	t.Cleanup(g.close)
	return g
}

func (g *guarded) now() time.Time { return time.Unix(g.clock.Load(), 0) }

// later advances the clock, in whole seconds.
func (g *guarded) later(d time.Duration) { g.clock.Add(int64(d / time.Second)) }

func (g *guarded) open() {
	g.t.Helper()
	now := g.now
	log := slog.New(slog.NewTextHandler(&locked{w: g.log}, nil))
	var err error
	g.journal, err = sqlite.Open(g.t.Context(), filepath.Join(g.dir, "j.db"), journal.Options{Now: now, Log: log, History: 24 * time.Hour})
	if err != nil {
		g.t.Fatal(err)
	}
	cfg := DefaultConfig()
	cfg.MaxBody, cfg.Prefix, cfg.Await = 1<<20, g.prefix, g.await
	if g.change != nil {
		g.change(&cfg)
	}
	if cfg.Authenticator, err = auth.New(g.auth, now, log); err != nil {
		g.t.Fatal(err)
	}
	g.reg = prometheus.NewRegistry()
	r, err := New(cfg, g.journal, now, g.reg, log)
	if err != nil {
		g.t.Fatal(err)
	}
	g.server = httptest.NewServer(r)
	g.url = g.server.URL
}

func (g *guarded) close() {
	g.server.Close()
	if err := g.journal.Close(); err != nil {
		g.t.Error(err)
	}
}

type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(b []byte) (int, error) { l.mu.Lock(); defer l.mu.Unlock(); return l.w.Write(b) }

// signed sends a delivery with all credentials.
func (g *guarded) signed(method, path, id, body string, header ...string) reply {
	g.t.Helper()
	h := http.Header{}
	g.credentials.Show(h, id, []byte(body))
	for name := range h {
		header = append(header, name, h.Get(name))
	}
	return g.send(method, path, body, header...)
}

// accepted returns how many changes of all kinds were accepted.
func (g *guarded) accepted() (n uint64) {
	g.t.Helper()
	s, err := g.journal.Stats(g.t.Context())
	if err != nil {
		g.t.Fatal(err)
	}
	for _, k := range s.Kinds {
		n += k.Accepted[report.Index] + k.Accepted[report.Delete]
	}
	return n
}

func (g *guarded) kept() []report.Refusal {
	g.t.Helper()
	list, err := g.journal.Refusals(g.t.Context(), 0, 100)
	if err != nil {
		g.t.Fatal(err)
	}
	return list
}

func secretFile(t *testing.T, content string) []string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{name}
}

func zipped(t *testing.T, body string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, body)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func signedHeader(g *guarded, id, body string) (header []string) {
	h := http.Header{}
	g.credentials.Show(h, id, []byte(body))
	for name := range h {
		header = append(header, name, h.Get(name))
	}
	return header
}
