package receiver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"riskdex/receiver/auth"
)

// Unauthenticated senders reach nothing on any path, are counted, and leave nothing in
// the journal, and not much in the log.
func TestUnauthenticatedSendersAreRefused(t *testing.T) {
	g := guard(t, auth.Config{BearerFiles: secretFile(t, "a-token-of-the-publisher")})
	sent, carry := 0.0, 0.0
	for _, c := range []struct{ method, path string }{
		{"POST", "/cities"}, {"PUT", "/advisories/1"}, {"DELETE", "/special-reports/1"},
		{"POST", "/nowhere"}, {"PATCH", "/cities/1"}, {"GET", "/cities"}, {"GET", "/nowhere"}, {"OPTIONS", "/cities"}, {"PUT", "/c%69ties/%2F"},
	} {
		for _, header := range [][]string{nil, {"Authorization", "Bearer a-token-of-somebody-else"}} {
			got := g.send(c.method, c.path, `{"id":1}`, header...)
			if sent++; mayCarryDelivery(c.method) {
				carry++
			}
			if got.status != http.StatusUnauthorized || got.Reason != "unauthorized" || got.header.Get("WWW-Authenticate") != `Bearer realm="riskdex"` ||
				got.header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s %s without credentials is answered %+v, want 401", c.method, c.path, got)
			}
		}
	}
	if n := g.counted("riskdex_changes_refused_total", "kind", "none", "reason", "credentials"); n != carry/2 {
		t.Errorf("%v refusals of wrong credentials are counted, want %v", n, carry/2)
	}
	if n := g.counted("riskdex_deliveries_total", "code", "401"); n != sent {
		t.Errorf("%v answers are counted, want %v", n, sent)
	}
	if n := g.counted("riskdex_deliveries_total", "code", "401", "kind", "cities", "method", "POST"); n != 2 {
		t.Errorf("%v refusals of POST /cities are counted, want 2", n)
	}
	if len(g.kept()) != 0 || g.accepted() != 0 {
		t.Errorf("unauthenticated senders left %d refusals and %d changes", len(g.kept()), g.accepted())
	}
	if n := strings.Count(g.log.String(), "request rejected"); n != 1 {
		t.Errorf("%d lines in a second:\n%s", n, g.log)
	}
	g.later(time.Second)
	g.send("POST", "/cities", "")
	if log := g.log.String(); !strings.Contains(log, "others_since=11") || strings.Contains(log, "token-of") {
		t.Errorf("the log lacks a line:\n%s", log)
	}
	if got := g.signed("POST", "/cities", "", `{"id":1}`); got.status != http.StatusAccepted {
		t.Errorf("the publisher is answered %+v, want 202", got)
	}
	if got := g.signed("POST", "/nowhere", "", `{"id":1}`); got.status != http.StatusNotFound || len(g.kept()) != 1 {
		t.Errorf("the publisher at a wrong path is answered %+v, and %d refusals are kept", got, len(g.kept()))
	}
}

// While the secrets cannot be read, the sender is asked to retry.
func TestUnreadableSecretsAskToComeAgain(t *testing.T) {
	files := secretFile(t, "a-token-of-the-publisher")
	g := guard(t, auth.Config{BearerFiles: files})
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	g.later(time.Second)
	got := g.signed("POST", "/cities", "", `{"id":1}`)
	if got.status != http.StatusServiceUnavailable || got.Reason != "door_closed" || got.header.Get("Retry-After") == "" || strings.Contains(got.Detail, files[0]) {
		t.Errorf("answered %+v, want 503 with the reason door_closed and Retry-After", got)
	}
	if n := g.counted("riskdex_changes_refused_total", "kind", "none", "reason", "door_closed"); n != 1 || g.accepted() != 0 {
		t.Errorf("%v refusals are counted and %d changes accepted, want 1 and 0", n, g.accepted())
	}
}

// The signature covers the bytes as they were sent.
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
	if got := g.accepted(); got != 3 { // there is nothing for the second DELETE
		t.Errorf("%d changes are accepted, want 3", got)
	}
	var reasons []string
	for _, r := range g.kept() {
		reasons = append(reasons, r.Reason)
	}
	slices.Sort(reasons)
	// The first too large one could not be verified, so it counts as unauthenticated.
	if want := []string{reasonGzip, reasonTooLarge, reasonEncoding, reasonPath}; !slices.Equal(reasons, want) {
		t.Errorf("kept %q, want %q", reasons, want)
	}
	if n := g.counted("riskdex_changes_refused_total", "kind", "none", "reason", reasonTooLarge); n != 1 {
		t.Errorf("%v unverifiable deliveries are counted, want 1", n)
	}
}

// An unsigned bomb is not decompressed.
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
			t.Fatalf("an unsigned bomb is answered %+v, want 401", got)
		}
	}
	runtime.ReadMemStats(&after)
	// Decompressing all of them would take at least 64 MiB.
	if grown := after.TotalAlloc - before.TotalAlloc; grown > times<<19 {
		t.Errorf("%d bombs had %d bytes allocated", times, grown)
	}
}

// The body of an unauthenticated sender is not read, nor even asked for with 100
// Continue.
func TestUnauthenticatedBodiesAreNotRead(t *testing.T) {
	for what, cfg := range map[string]auth.Config{
		"a token":     {BearerFiles: secretFile(t, "a-token-of-the-publisher")},
		"a signature": {WebhookFiles: secretFile(t, webhookKey)},
		"an address":  {AllowFrom: []string{"192.0.2.1"}},
	} {
		g := guard(t, cfg)
		conn, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(conn, "POST /cities HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n")
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != http.StatusUnauthorized && res.StatusCode != http.StatusForbidden {
			t.Errorf("without %s the answer is %s", what, res.Status)
		}
		res.Body.Close()
		conn.Close()
	}
}

// connection makes consecutive requests on one connection to a receiver.
type connection struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func connect(t *testing.T, url string) *connection {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return &connection{t, conn, bufio.NewReader(conn)}
}

// send makes a request and returns the status of the answer.
func (c *connection) send(method, target string, header http.Header, body string) int {
	c.t.Helper()
	var h strings.Builder
	if err := header.Write(&h); err != nil {
		c.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(c.conn, "%s %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", method, target, h.String(), len(body), body); err != nil {
		c.t.Fatal(err)
	}
	res, err := http.ReadResponse(c.in, nil)
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body)
	}
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, target, err)
	}
	return res.StatusCode
}

// ended reports whether the other side closes it.
func (c *connection) ended() bool {
	_, err := c.in.ReadByte()
	return err == io.EOF
}

// A connection ends after a refusal for lack of authentication, and is kept after other
// answers.
func TestUnauthenticatedSendersKeepNoConnection(t *testing.T) {
	token := auth.Config{BearerFiles: secretFile(t, "a-token-of-the-publisher")}
	signature := auth.Config{WebhookFiles: secretFile(t, webhookKey)}
	for what, c := range map[string]struct {
		auth           auth.Config
		method, target string
		forged         bool // a well-formed signature
		status         int
	}{
		"no token":                   {token, "PUT", "/cities/1", false, 401},
		"no token, no delivery":      {token, "GET", "/nowhere", false, 401},
		"no signature":               {signature, "PUT", "/cities/1", false, 401},
		"a wrong signature":          {signature, "PUT", "/cities/1", true, 401},
		"a wrong signature, nowhere": {signature, "POST", "/nowhere", true, 401},
		"a signature of no delivery": {signature, "GET", "/cities", true, 405},
		"a signature of nothing":     {signature, "GET", "/nowhere", true, 404},
		"a health check":             {token, "GET", "/readyz", false, 200},
		"another address":            {auth.Config{AllowFrom: []string{"192.0.2.1"}}, "PUT", "/cities/1", false, 403},
	} {
		g := guard(t, c.auth)
		h := http.Header{}
		if c.forged {
			g.credentials.Show(h, "msg_1", []byte("another body"))
		}
		stranger := connect(t, g.url)
		if got := stranger.send(c.method, c.target, h, `{}`); got != c.status {
			t.Errorf("%s: answered %d, want %d", what, got, c.status)
		} else if !stranger.ended() {
			t.Errorf("%s: the connection is kept", what)
		}
	}
	for what, cfg := range map[string]auth.Config{"a token": token, "a signature": signature} {
		g := guard(t, cfg)
		publisher := connect(t, g.url)
		for i, c := range []struct {
			path, body string
			status     int
		}{{"/cities/1", `{"t":1}`, 202}, {"/cities/1", `{`, 400}, {"/nowhere", `{}`, 404}, {"/cities/2", `{"t":1}`, 202}} {
			h := http.Header{}
			g.credentials.Show(h, fmt.Sprint("msg_", i), []byte(c.body))
			if got := publisher.send("PUT", c.path, h, c.body); got != c.status {
				t.Errorf("with %s, %s %s: answered %d, want %d", what, c.path, c.body, got, c.status)
			}
		}
	}
}

// Without required credentials, a page that somebody opens on this machine could deliver.
// It is refused, told why, and counted, and leaves nothing behind.
func TestWebPagesDeliverNothing(t *testing.T) {
	g := guard(t, auth.Config{})
	for i, c := range []struct{ method, path, origin string }{
		{"POST", "/cities", "http://evil.example"}, {"POST", "/cities", "null"}, {"PUT", "/cities/1", "http://evil.example"}, {"DELETE", "/cities/1", "http://evil.example"}, {"POST", "/nowhere", "http://evil.example"},
	} {
		got := g.send(c.method, c.path, `{"id":1}`, "Origin", c.origin, "Content-Type", "text/plain")
		if got.status != http.StatusForbidden || got.Reason != "web_page" || !strings.Contains(got.Detail, "without Origin") || got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %s by a web page is answered %+v, want 403", c.method, c.path, got)
		}
		if n := g.counted("riskdex_changes_refused_total", "kind", "none", "reason", "web_page"); n != float64(i+1) {
			t.Errorf("%v are counted, want %d", n, i+1)
		}
	}
	if n := g.accepted(); n != 0 || len(g.kept()) != 0 {
		t.Errorf("pages left %d changes and %d refusals", n, len(g.kept()))
	}
	if n := strings.Count(g.log.String(), "reason=web_page"); n != 1 {
		t.Errorf("%d lines in a second:\n%s", n, g.log)
	}
	if got := g.send("PUT", "/cities/1", `{"id":1}`); got.status != http.StatusAccepted {
		t.Errorf("a program is answered %+v, want 202", got)
	}
}
