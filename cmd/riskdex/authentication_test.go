package main

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"riskdex/internal/logsink"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
)

func secretFile(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

// TestPublicReceiverWithoutAuthenticationMustBeExplicit starts riskdex on addresses that
// others can reach.
func TestPublicReceiverWithoutAuthenticationMustBeExplicit(t *testing.T) {
	token := secretFile(t, "a-token-of-the-publisher")
	start := func(args ...string) (string, error) {
		t.Helper()
		var c commands
		all := append([]string{"serve", "--admin-listen", "127.0.0.1:0", "--journal", filepath.Join(t.TempDir(), "j.db")}, args...)
		parser, err := kong.New(&c, servedHere())
		require.NoError(t, err)
		_, err = parser.Parse(all)
		require.NoError(t, err)
		s, err := newService(t.Context(), &c.Serve, c.Serve.logger(new(bytes.Buffer)), new(logsink.Sink), nil)
		if err != nil {
			return err.Error(), err
		}
		require.NoError(t, s.deliveries.close())
		require.NoError(t, s.admin.close())
		require.NoError(t, s.journal.Close())
		return "", nil
	}
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
		if says, err := start("--listen", address); err == nil || !strings.Contains(says, "--insecure-open") {
			t.Errorf("on %s riskdex starts, or fails with %q", address, says)
		}
		for _, args := range [][]string{{"--insecure-open"}, {"--bearer-file", token}, {"--allow-from", "192.0.2.0/24"}} {
			if says, err := start(append(args, "--listen", address)...); err != nil {
				t.Errorf("on %s with %s: %s", address, args[0], says)
			}
		}
		if says, err := start("--listen", address, "--bearer-file", token+"x"); err == nil || !strings.Contains(says, token+"x") {
			t.Errorf("on %s with a missing file riskdex starts, or fails with %q", address, says)
		}
	}
	// Of two values of a flag, kong takes the last one.
	if says, err := start("--admin-listen", "0.0.0.0:0"); err == nil || !strings.Contains(says, "--admin-token-file") {
		t.Errorf("administration is open to everybody, or fails with %q", says)
	}
	for _, args := range [][]string{{"--insecure-open"}, {"--admin-token-file", token}} {
		if says, err := start(append(args, "--admin-listen", "0.0.0.0:0")...); err != nil {
			t.Errorf("administration with %s: %s", args[0], says)
		}
	}
	if says, err := start("--client-ca-file", token); err == nil {
		t.Errorf("a client certificate is asked for without TLS: %q", says)
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0", "127.0.0.2:0"} {
		if says, err := start("--listen", address); err != nil {
			t.Errorf("on %s: %s", address, says)
		}
	}
}

// TestPushShowsCredentials sends to a riskdex that requires all methods of authentication,
// and that rereads its files while it runs.
func TestPushShowsCredentials(t *testing.T) {
	key := func(text string) string { return "whsec_" + base64.StdEncoding.EncodeToString([]byte(text)) }
	token, basic := secretFile(t, "a-token-of-the-publisher"), secretFile(t, "publisher:a-password")
	webhook, hub := secretFile(t, key("the first key of enough bytes")), secretFile(t, "another key of enough bytes")
	t.Setenv("RISKDEX_BASIC_FILE", basic)
	flags := []string{"--bearer-file", token, "--webhook-secret-file", webhook, "--hub-secret-file", hub}
	p := newProcess(t, elastictest.URL(t), append([]string{"--allow-from", "127.0.0.1"}, flags...)...)
	p.start()
	feed := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(feed, "cities"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(feed, "cities.json"), []byte(`[{"id": 1, "title": "x"}, {"id": 2}]`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(feed, "cities", "1.delete"), nil, 0o600))
	push := append([]string{"push", feed, "--to", "http://" + p.deliveries}, flags...)

	if status := p.send("PUT", "/cities/1", `{"t":1}`); status != http.StatusUnauthorized {
		t.Errorf("an unauthenticated sender is answered %d", status)
	}
	p.expect(exitDone, "", push, "2 of 2 deliveries sent", "3 documents accepted")
	p.expect(exitNegative, "", push[:6], "401 Unauthorized", "X-Hub-Signature-256", "number 1 of 2", "--hub-secret-file")
	elsewhere := append([]string{"push", feed, "--to", "http://" + p.deliveries + "/elsewhere"}, flags...)
	p.expect(exitNegative, "", elsewhere, "POST /cities and 1 more: 404")
	p.drained()

	// The new key is known to the sender only at first.
	other := secretFile(t, key("the second key of enough bytes"))
	rotated := strings.Split(strings.Replace(strings.Join(push, "\n"), webhook, other, 1), "\n")
	p.expect(exitNegative, "", rotated, "401 Unauthorized")
	require.NoError(t, os.WriteFile(webhook, []byte(key("the first key of enough bytes")+"\n"+key("the second key of enough bytes")), 0o600))
	eventually(t, "the second key is good", func() bool { return p.command("", rotated...).status == exitDone })

	require.NoError(t, os.Remove(webhook))
	eventually(t, "riskdex says that it cannot accept", func() bool {
		said := p.command("", "healthy")
		return said.status == exitNegative && strings.Contains(said.errs, webhook)
	})
	req, err := http.NewRequest("PUT", "http://"+p.deliveries+"/cities/1", strings.NewReader("{}"))
	require.NoError(t, err)
	req.Header["Authorization"] = []string{"Bearer a-token-of-the-publisher", "Basic " + base64.StdEncoding.EncodeToString([]byte("publisher:a-password"))}
	res, err := p.sender.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
		t.Errorf("while the secrets cannot be read, a delivery is answered %d", res.StatusCode)
	}
	p.terminate()
	for _, secret := range []string{"a-token-of", "a-password", "key of enough", key("the first")[:14]} {
		if strings.Contains(p.log.String(), secret) {
			t.Errorf("the log contains %q", secret)
		}
	}
}
