package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/require"
	"riskdex/receiver/auth"
)

// attacked is a riskdex with every kind of secret. Whatever a test does to it, unharmed
// checks in the end that neither a secret nor marker, which is in bodies, was printed
// anywhere, that all lines of the log are riskdex's own, and that no series was born.
type attacked struct {
	*process
	credentials *auth.Credentials
	secrets     []string
	answers     bytes.Buffer // everything that it answered over raw connections
}

// marker is in deliveries, and belongs in the journal only.
const marker = "only-in-the-journal-4711"

// attack starts a riskdex to be attacked. format is the format of its log.
func attack(t *testing.T, elasticsearch, format string, extra ...string) *attacked {
	t.Helper()
	key := func(text string) string { return "whsec_" + base64.StdEncoding.EncodeToString([]byte(text)) }
	cfg := auth.Config{
		BearerFiles:  []string{secretFile(t, "the-bearer-token-of-the-publisher")},
		BasicFiles:   []string{secretFile(t, "publisher:the-password-of-the-publisher")},
		WebhookFiles: []string{secretFile(t, key("the webhook key, of enough bytes"))},
		HubFiles:     []string{secretFile(t, "the-hub-key-of-enough-bytes")},
	}
	a := &attacked{secrets: []string{
		"the-bearer-token", "the-password", base64.StdEncoding.EncodeToString([]byte("publisher:the-password-of-the-publisher")),
		"the webhook key", key("the webhook key, of enough bytes"), "the-hub-key", "the-admin-token", "the-elastic-password",
	}}
	var err error
	a.credentials, err = auth.NewCredentials(cfg, time.Now)
	require.NoError(t, err)
	// Commands of this test need the token too.
	t.Setenv("RISKDEX_ADMIN_TOKEN_FILE", secretFile(t, "the-admin-token-of-the-operator"))
	t.Setenv("ELASTICSEARCH_PASSWORD", "the-elastic-password")
	a.process = newProcess(t, elasticsearch, append([]string{
		"--log-level", "debug", "--log-format", format, "--elasticsearch-user", "riskdex",
		"--bearer-file", cfg.BearerFiles[0], "--basic-file", cfg.BasicFiles[0],
		"--webhook-secret-file", cfg.WebhookFiles[0], "--hub-secret-file", cfg.HubFiles[0],
	}, extra...)...)
	a.token = "the-admin-token-of-the-operator"
	a.start()
	return a
}

// shown returns the header of a delivery by the publisher, one field per line.
func (a *attacked) shown(id, body string) string {
	h := http.Header{}
	a.credentials.Show(h, id, []byte(body))
	var lines strings.Builder
	require.NoError(a.t, h.Write(&lines))
	return lines.String()
}

// raw sends text over a connection of its own and returns the whole answer. It closes its
// half of the connection only once no more is answered, because closing it earlier counts
// as hanging up.
func (a *attacked) raw(text string) string {
	a.t.Helper()
	conn, err := net.Dial("tcp", a.deliveries)
	require.NoError(a.t, err)
	defer conn.Close()
	require.NoError(a.t, conn.SetWriteDeadline(time.Now().Add(time.Minute)))
	// It may be cut off before it has sent everything, and then the answer may be lost as well.
	_, sent := conn.Write([]byte(text))
	var answer bytes.Buffer
	for _, within := range []time.Duration{300 * time.Millisecond, time.Minute} {
		require.NoError(a.t, conn.SetReadDeadline(time.Now().Add(within)))
		if _, err = answer.ReadFrom(conn); err == nil {
			break
		}
		if sent == nil {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
	}
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
		a.t.Errorf("%.80q holds its connection", text)
	}
	a.answers.Write(answer.Bytes())
	return answer.String()
}

// alive makes a valid delivery.
func (a *attacked) alive() {
	a.t.Helper()
	if said := a.raw(a.request("PUT", "/cities/alive", `{"title":"`+marker+`"}`)); !strings.HasPrefix(said, "HTTP/1.1 202 ") {
		a.t.Fatalf("a valid delivery is answered %q", said)
	}
}

// request returns a delivery by the publisher with exactly that path.
func (a *attacked) request(method, path, body string) string {
	id := fmt.Sprintf("msg_%d", time.Now().UnixNano())
	return method + " " + path + " HTTP/1.1\r\nHost: riskdex\r\nConnection: close\r\n" + a.shown(id, body) +
		"Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// unharmed stops riskdex, and checks all that it has printed and answered.
func (a *attacked) unharmed(format string) {
	a.t.Helper()
	a.alive()
	a.conserved()
	said := map[string]string{"answers": a.answers.String()}
	for _, path := range []string{"/metrics", "/debug/pprof/cmdline", "/api/status", "/readyz"} {
		said[path] = string(a.administer(path))
	}
	cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", a.cmd.Process.Pid))
	require.NoError(a.t, err)
	said["the process list"] = string(cmdline)
	a.terminate()
	said["log"] = a.log.String()
	for where, text := range said {
		for _, secret := range slices.Concat(a.secrets, []string{marker, "goroutine 1", ".go:"}) {
			if strings.Contains(text, secret) {
				i := strings.Index(text, secret)
				a.t.Errorf("%s: the secret %q was printed: …%.200q", where, secret, text[max(0, i-100):])
			}
		}
	}
	checkLog(a.t, format, said["log"])
}
