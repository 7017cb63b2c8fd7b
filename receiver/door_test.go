package receiver

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/journal"
	"riskdex/receiver/auth"
	"riskdex/report"
)

const webhookKey = "whsec_cmlza2RleC10ZXN0LWtleS1vbmUtb2YtMzItYnl0ZXM="

// guarded is a receiver with a door, on a real journal.
type guarded struct {
	*door
	journal     journal.Journal
	dir         string
	auth        auth.Config
	clock       time.Time
	credentials *auth.Credentials
	log         *bytes.Buffer
	server      *httptest.Server
}

func guard(t *testing.T, cfg auth.Config) *guarded {
	t.Helper()
	g := &guarded{door: &door{t: t}, dir: t.TempDir(), auth: cfg, clock: time.Unix(1_800_000_000, 0), log: new(bytes.Buffer)}
	var err error
	if g.credentials, err = auth.NewCredentials(cfg, func() time.Time { return g.clock }); err != nil {
		t.Fatal(err)
	}
	g.open()
	t.Cleanup(g.close)
	return g
}

func (g *guarded) open() {
	g.t.Helper()
	now := func() time.Time { return g.clock }
	log := slog.New(slog.NewTextHandler(&locked{w: g.log}, nil))
	var err error
	g.journal, err = journal.OpenSQLite(g.t.Context(), filepath.Join(g.dir, "j.db"), journal.Options{Now: now, Log: log})
	if err != nil {
		g.t.Fatal(err)
	}
	cfg := DefaultConfig()
	cfg.MaxBody = 1 << 20
	if cfg.Door, err = auth.New(g.auth, now, log); err != nil {
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

// accepted returns how many changes were, of all kinds.
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

// Strangers reach nothing on any path, are counted, and leave nothing behind: not
// in the journal, and not much in the log.
func TestStrangersAreTurnedAway(t *testing.T) {
	g := guard(t, auth.Config{BearerFiles: secretFile(t, "a-token-of-the-publisher")})
	sent := 0.0
	for _, c := range []struct{ method, path string }{
		{"POST", "/cities"}, {"PUT", "/advisories/1"}, {"DELETE", "/special-reports/1"},
		{"POST", "/nowhere"}, {"PATCH", "/cities/1"}, {"GET", "/cities"}, {"GET", "/"}, {"OPTIONS", "/cities"}, {"PUT", "/c%69ties/%2F"},
	} {
		for _, header := range [][]string{nil, {"Authorization", "Bearer a-token-of-somebody-else"}} {
			got := g.send(c.method, c.path, `{"id":1}`, header...)
			sent++
			if got.status != http.StatusUnauthorized || got.Reason != "unauthorized" || got.header.Get("WWW-Authenticate") != `Bearer realm="riskdex"` ||
				got.header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s %s: %+v", c.method, c.path, got)
			}
		}
	}
	if n := g.counted("riskdex_changes_refused_total", "kind", "none", "reason", "credentials"); n != sent {
		t.Errorf("%v are counted, want %v", n, sent)
	}
	if n := g.counted("riskdex_deliveries_total", "code", "401"); n != sent {
		t.Errorf("%v answers are counted, want %v", n, sent)
	}
	if n := g.counted("riskdex_deliveries_total", "code", "401", "kind", "cities", "method", "POST"); n != 2 {
		t.Errorf("%v for POST /cities, want 2", n)
	}
	if len(g.kept()) != 0 || g.accepted() != 0 {
		t.Errorf("strangers left %d refusals and %d changes", len(g.kept()), g.accepted())
	}
	if n := strings.Count(g.log.String(), "turned away"); n != 1 {
		t.Errorf("%d lines in a second:\n%s", n, g.log)
	}
	g.clock = g.clock.Add(time.Second)
	g.send("POST", "/cities", "")
	if log := g.log.String(); !strings.Contains(log, "others_since=17") || strings.Contains(log, "token-of") {
		t.Errorf("the log:\n%s", log)
	}
	if got := g.signed("POST", "/cities", "", `{"id":1}`); got.status != http.StatusAccepted {
		t.Errorf("the publisher: %+v", got)
	}
	if got := g.signed("POST", "/nowhere", "", `{"id":1}`); got.status != http.StatusNotFound || len(g.kept()) != 1 {
		t.Errorf("the publisher at a wrong path: %+v, %d kept", got, len(g.kept()))
	}
}

// While the secrets cannot be read the sender is asked to come again.
func TestClosedDoorAsksToComeAgain(t *testing.T) {
	files := secretFile(t, "a-token-of-the-publisher")
	g := guard(t, auth.Config{BearerFiles: files})
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	g.clock = g.clock.Add(time.Second)
	got := g.signed("POST", "/cities", "", `{"id":1}`)
	if got.status != http.StatusServiceUnavailable || got.Reason != "door_closed" || got.header.Get("Retry-After") == "" || strings.Contains(got.Detail, files[0]) {
		t.Errorf("%+v", got)
	}
	if n := g.counted("riskdex_changes_refused_total", "kind", "none", "reason", "door_closed"); n != 1 || g.accepted() != 0 {
		t.Errorf("%v counted, %d accepted", n, g.accepted())
	}
}

// The signature is over the bytes as they were sent.
func TestSignaturesAreOverTheBytesAsSent(t *testing.T) {
	g := guard(t, auth.Config{WebhookFiles: secretFile(t, webhookKey)})
	plain := `{"id": 130, "code": "LON"}`
	packed := zipped(t, plain)
	h := http.Header{}
	g.credentials.Show(h, "msg_x", []byte(plain))
	ofPlain := []string{"Content-Encoding", "gzip"}
	for name := range h {
		ofPlain = append(ofPlain, name, h.Get(name))
	}
	for what, c := range map[string]struct {
		got  reply
		want int
	}{
		"as it is":                           {g.signed("POST", "/cities", "msg_1", plain), 202},
		"compressed":                         {g.signed("POST", "/cities", "msg_2", packed, "Content-Encoding", "gzip"), 202},
		"compressed, signed before":          {g.send("POST", "/cities", packed, ofPlain...), 401},
		"a DELETE":                           {g.signed("DELETE", "/cities/130", "msg_3", ""), 202},
		"a DELETE with a body":               {g.signed("DELETE", "/cities/130", "msg_4", "x"), 202},
		"a DELETE with a body nobody signed": {g.send("DELETE", "/cities/130", "x", signedHeader(g, "msg_5", "")...), 401},
		"unsigned":                           {g.send("DELETE", "/cities/130", ""), 401},
		"an unknown encoding, signed":        {g.signed("PUT", "/cities/1", "msg_6", "x", "Content-Encoding", "br"), 415},
		"an unknown encoding, unsigned":      {g.send("PUT", "/cities/1", "x", "Content-Encoding", "br"), 401},
		"not gzip, signed":                   {g.signed("PUT", "/cities/1", "msg_7", plain, "Content-Encoding", "gzip"), 400},
		"too large":                          {g.signed("PUT", "/cities/1", "msg_8", strings.Repeat(" ", 1<<20+1)), 413},
		"too large once decompressed":        {g.signed("PUT", "/cities/1", "msg_9", zipped(t, strings.Repeat(" ", 1<<20+1)), "Content-Encoding", "gzip"), 413},
		"to a wrong path":                    {g.signed("POST", "/nowhere", "msg_10", plain), 404},
		"to a wrong path, wrongly":           {g.send("POST", "/nowhere", plain, signedHeader(g, "msg_11", "")...), 401},
	} {
		if c.got.status != c.want {
			t.Errorf("%s: %+v, want %d", what, c.got, c.want)
		}
	}
	if got := g.accepted(); got != 4 {
		t.Errorf("%d changes are accepted, want 4", got)
	}
	var reasons []string
	for _, r := range g.kept() {
		reasons = append(reasons, r.Reason)
	}
	slices.Sort(reasons)
	// The first that was too large could not be verified, so it is a stranger's.
	if want := []string{reasonTooLarge, reasonEncoding, reasonEncoding, reasonPath}; !slices.Equal(reasons, want) {
		t.Errorf("kept %q, want %q", reasons, want)
	}
	if n := g.counted("riskdex_changes_refused_total", "kind", "none", "reason", reasonTooLarge); n != 1 {
		t.Errorf("%v that could not be verified are counted, want 1", n)
	}
}

func signedHeader(g *guarded, id, body string) (header []string) {
	h := http.Header{}
	g.credentials.Show(h, id, []byte(body))
	for name := range h {
		header = append(header, name, h.Get(name))
	}
	return header
}

// A bomb that nobody has signed is not decompressed.
func TestUnsignedBombIsNotDecompressed(t *testing.T) {
	g := guard(t, auth.Config{WebhookFiles: secretFile(t, webhookKey)})
	bomb := zipped(t, strings.Repeat(" ", 1<<20))
	header := append(signedHeader(g, "msg_1", "another body"), "Content-Encoding", "gzip")
	var before, after runtime.MemStats
	g.send("POST", "/cities", bomb, header...)
	runtime.ReadMemStats(&before)
	const times = 64
	for range times {
		if got := g.send("POST", "/cities", bomb, header...); got.status != http.StatusUnauthorized {
			t.Fatalf("%+v", got)
		}
	}
	runtime.ReadMemStats(&after)
	// All of them decompressed would be 64 MiB at least.
	if grown := after.TotalAlloc - before.TotalAlloc; grown > times<<19 {
		t.Errorf("%d bombs had %d bytes allocated", times, grown)
	}
}

// A delivery with a signed id takes effect once, is answered as the first time,
// and its id is good for no other: not with another body, and not on another path,
// which the signature does not cover.
func TestSignedDeliveryTakesEffectOnce(t *testing.T) {
	g := guard(t, auth.Config{WebhookFiles: secretFile(t, webhookKey)})
	body := `[{"id": 1, "title": "old"}, {"title": "no id"}]`
	answer := func(got reply) string {
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		return string(sum[:])
	}
	first := g.signed("POST", "/cities", "msg_1", body)
	if first.status != http.StatusAccepted || first.Accepted != 1 || len(first.Refused) != 1 {
		t.Fatalf("%+v", first)
	}
	g.signed("PUT", "/cities/1", "msg_2", `{"id": 1, "title": "newer"}`)
	for _, when := range []string{"at once", "after a restart", "signed anew, minutes later"} {
		switch when {
		case "after a restart":
			g.close()
			g.open()
		case "signed anew, minutes later":
			g.clock = g.clock.Add(9 * time.Minute)
		}
		if got := g.signed("POST", "/cities", "msg_1", body); got.status != http.StatusAccepted || answer(got) != answer(first) {
			t.Errorf("%s it is answered %+v, want %+v", when, got, first)
		}
		if got := g.signed("POST", "/cities", "msg_1", zipped(t, body), "Content-Encoding", "gzip"); answer(got) != answer(first) {
			t.Errorf("%s, compressed, it is answered %+v, want %+v", when, got, first)
		}
	}
	if g.accepted() != 2 || len(g.kept()) != 1 {
		t.Errorf("%d changes are accepted and %d refusals kept, want 2 and 1", g.accepted(), len(g.kept()))
	}
	if n := g.counted("riskdex_changes_refused_total", "kind", "cities"); n != 0 { // since the restart
		t.Errorf("%v refused records are counted, want none", n)
	}
	changes, err := g.journal.Claim(t.Context(), report.Cities, 10, 1<<20)
	if err != nil || len(changes) != 1 || !strings.Contains(string(changes[0].Body), "newer") {
		t.Errorf("the journal has %+v, %v", changes, err)
	}

	signedOnce := signedHeader(g, "msg_3", "")
	if got := g.send("DELETE", "/cities/7", "", signedOnce...); got.status != http.StatusAccepted {
		t.Fatalf("%+v", got)
	}
	for what, got := range map[string]reply{
		"another body":                      g.signed("POST", "/cities", "msg_1", `[{"id": 2}]`),
		"the same JSON in other bytes":      g.signed("POST", "/cities", "msg_1", strings.ReplaceAll(body, ": ", ":")),
		"another kind":                      g.signed("POST", "/advisories", "msg_1", body),
		"an intercepted delete, turned":     g.send("DELETE", "/cities/1", "", signedOnce...),
		"an intercepted delete, other kind": g.send("DELETE", "/advisories/7", "", signedOnce...),
	} {
		if got.status != http.StatusConflict || got.Reason != reasonIDReused {
			t.Errorf("%s: %+v", what, got)
		}
	}
	if g.accepted() != 3 || len(g.kept()) != 6 {
		t.Errorf("%d changes are accepted and %d refusals kept, want 3 and 6", g.accepted(), len(g.kept()))
	}
}

// Of many that come at once one takes effect, and all have the same answer.
func TestConcurrentRepeatsTakeEffectOnce(t *testing.T) {
	g := guard(t, auth.Config{WebhookFiles: secretFile(t, webhookKey)})
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			if got := g.signed("PUT", "/cities/1", "msg_1", `{"title": "x"}`); got.status != http.StatusAccepted || got.Accepted != 1 {
				t.Errorf("%+v", got)
			}
		})
	}
	wait.Wait()
	if n := g.accepted(); n != 1 {
		t.Errorf("%d changes are accepted, want 1", n)
	}
}

// A delivery that did not become durable may come again under its id, and so may
// one that was refused.
func TestWhatFailedMayComeAgain(t *testing.T) {
	g := guard(t, auth.Config{WebhookFiles: secretFile(t, webhookKey)})
	if got := g.signed("PUT", "/cities/1", "msg_1", `{`); got.status != http.StatusBadRequest {
		t.Errorf("%+v", got)
	}
	if err := g.journal.Close(); err != nil {
		t.Fatal(err)
	}
	if got := g.signed("PUT", "/cities/1", "msg_1", `{}`); got.status != http.StatusServiceUnavailable {
		t.Errorf("%+v", got)
	}
	g.close()
	g.open()
	if got := g.signed("PUT", "/cities/1", "msg_1", `{}`); got.status != http.StatusAccepted || g.accepted() != 1 {
		t.Errorf("%+v", got)
	}
}

// An id that nobody has signed is anybody's, and no reason to leave out a delivery.
func TestUnsignedIDsMakeNoReceipts(t *testing.T) {
	g := guard(t, auth.Config{HubFiles: secretFile(t, webhookKey)})
	for i, body := range []string{`{"title": "a"}`, `{"title": "b"}`, `{"title": "b"}`} {
		if got := g.signed("PUT", "/cities/1", "", body, "Webhook-Id", "msg_1"); got.status != http.StatusAccepted || g.accepted() != uint64(i+1) {
			t.Errorf("%s: %+v, %d accepted", body, got, g.accepted())
		}
	}
}
