package main

import (
	"bytes"
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/certificates"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
)

// TestEverythingLocked runs a whole riskdex with TLS on both listeners, a client
// certificate and a token for deliveries, and a token for administration.
func TestEverythingLocked(t *testing.T) {
	authority, folder := certificates.New(t), t.TempDir()
	put := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	server, publisher := authority.Issue(t, "riskdex"), authority.Issue(t, "publisher")
	const bearer, adminToken = "the-token-of-the-publisher", "the-token-of-the-operator"
	certificate, key, ca := put("cert.pem", server.Certificate), put("key.pem", server.Key), put("ca.pem", authority.PEM)
	tokens := put("admin", []byte(adminToken+"\n"))
	p := newProcess(t, elastictest.URL(t),
		"--tls-cert-file", certificate, "--tls-key-file", key, "--client-ca-file", ca, "--client-names", "publisher",
		"--bearer-file", put("bearer", []byte(bearer)),
		"--admin-tls-cert-file", certificate, "--admin-tls-key-file", key, "--admin-token-file", tokens)
	operator := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.Pool}}}
	t.Cleanup(operator.CloseIdleConnections)
	p.launch()
	eventually(t, "riskdex is ready", func() bool {
		res, err := operator.Get("https://" + p.admin + "/readyz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})

	deliver := func(shown *tls.Certificate, token string) int {
		cfg := &tls.Config{RootCAs: authority.Pool}
		if shown != nil {
			cfg.Certificates = []tls.Certificate{*shown}
		}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: cfg}}
		defer client.CloseIdleConnections()
		req, err := http.NewRequest("PUT", "https://"+p.deliveries+"/cities/1", strings.NewReader(`{"title":"locked"}`))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := client.Do(req)
		require.NoError(t, err)
		res.Body.Close()
		return res.StatusCode
	}
	other := authority.Issue(t, "somebody")
	for name, c := range map[string]struct {
		shown *tls.Certificate
		token string
		want  int
	}{
		"no certificate":        {nil, bearer, http.StatusForbidden},
		"of somebody else":      {&other.TLS, bearer, http.StatusForbidden},
		"no token":              {&publisher.TLS, "", http.StatusUnauthorized},
		"certificate and token": {&publisher.TLS, bearer, http.StatusAccepted},
	} {
		if got := deliver(c.shown, c.token); got != c.want {
			t.Errorf("%s is answered %d, want %d", name, got, c.want)
		}
	}
	eventually(t, "the delivery is indexed", func() bool {
		status, _ := elastictest.Ask(t, "GET", p.elasticsearch+"/"+p.prefix+"cities/_doc/1", "")
		return status == http.StatusOK
	})

	ask := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		status := run(t.Context(), append(args, "--admin", "https://"+p.admin), streams{&out, &errs})
		return status, out.String() + errs.String()
	}
	eventually(t, "riskdex status says that all is well", func() bool { // the other indices may still be on their way
		status, _ := ask("status", "--admin-ca-file", ca, "--admin-token-file", tokens)
		return status == exitDone
	})
	if status, said := ask("healthy", "--admin-ca-file", ca); status != exitDone {
		t.Errorf("riskdex healthy ended with %d %s", status, said)
	}
	if status, said := ask("status", "--admin-ca-file", ca); status != exitFailed || !strings.Contains(said, "--admin-token-file") {
		t.Errorf("status without the token: %d %s", status, said)
	}
	if status, said := ask("status", "--admin-token-file", tokens); status != exitFailed || !strings.Contains(said, "certificate") {
		t.Errorf("status without the authority: %d %s", status, said)
	}
	if status := p.terminate(); status != exitDone {
		t.Errorf("stopped with %d", status)
	}
	if log := p.log.String(); strings.Contains(log, bearer) || strings.Contains(log, adminToken) {
		t.Errorf("the log contains a token:\n%s", log)
	}
}
