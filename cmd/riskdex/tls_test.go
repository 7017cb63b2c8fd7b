package main

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/internal/reread"
	"riskdex/internal/testkit/certificates"
	"riskdex/internal/testkit/require"
)

// secureEndpoint serves with a certificate whose files a test can replace, and with a clock
// that the test advances.
type secureEndpoint struct {
	*endpoint
	settings tlsSettings
	clock    atomic.Int64
}

func serveSecurely(t *testing.T, pair certificates.Pair) *secureEndpoint {
	t.Helper()
	folder := t.TempDir()
	s := &secureEndpoint{settings: tlsSettings{filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")}}
	s.put(t, pair)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	cfg, err := s.settings.config(nil, "tests", func() time.Time { return time.Unix(s.clock.Load(), 0) }, log)
	require.NoError(t, err)
	s.endpoint, err = listen(t.Context(), "tests", "127.0.0.1:0", cfg, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Protocol", r.Proto)
	}), log)
	require.NoError(t, err)
	s.serve(func(err error) { t.Error(err) })
	t.Cleanup(func() { require.NoError(t, s.shutdown(time.Minute)) })
	return s
}

func (s *secureEndpoint) put(t *testing.T, pair certificates.Pair) {
	t.Helper()
	require.NoError(t, os.WriteFile(s.settings.Certificate, pair.Certificate, 0o600))
	require.NoError(t, os.WriteFile(s.settings.Key, pair.Key, 0o600))
}

// name returns the name in the certificate that the endpoint now presents.
func (s *secureEndpoint) name(t *testing.T, cfg *tls.Config) (string, error) {
	t.Helper()
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: time.Minute}, "tcp", s.listener.Addr().String(), cfg)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].Subject.CommonName, nil
}

// TestCertificateIsReplacedWhileItServes: a new certificate is used without a restart,
// unless it is invalid.
func TestCertificateIsReplacedWhileItServes(t *testing.T) {
	authority := certificates.New(t)
	first, second := authority.Issue(t, "first"), authority.Issue(t, "second")
	s := serveSecurely(t, first)
	clientTrusting := &tls.Config{RootCAs: authority.Pool}
	wants := func(want string) {
		t.Helper()
		s.clock.Add(int64(reread.Every / time.Second))
		if got, err := s.name(t, clientTrusting); got != want || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	wants("first")
	s.put(t, second)
	wants("second")
	s.put(t, certificates.Pair{Certificate: first.Certificate, Key: second.Key}) // half of it is replaced
	wants("second")
	s.put(t, authority.IssueUntil(t, "expired", time.Now().Add(-time.Hour)))
	wants("second")
	require.NoError(t, os.Remove(s.settings.Key))
	wants("second")
	s.put(t, first)
	wants("first")
}

// TestOnlyModernTLS: only modern versions and suites are accepted, and only HTTP/1.1.
func TestOnlyModernTLS(t *testing.T) {
	authority := certificates.New(t)
	s := serveSecurely(t, authority.Issue(t, "x"))
	for name, c := range map[string]struct {
		cfg   *tls.Config
		works bool
	}{
		"1.3":              {&tls.Config{MinVersion: tls.VersionTLS13}, true},
		"1.2":              {&tls.Config{MaxVersion: tls.VersionTLS12}, true},
		"1.1":              {&tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, false},
		"1.2 without AEAD": {&tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA}}, false},
	} {
		c.cfg.RootCAs = authority.Pool
		if _, err := s.name(t, c.cfg); (err == nil) != c.works {
			t.Errorf("%s: the connection returned %v", name, err)
		}
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.Pool}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	res, err := client.Get(s.url())
	require.NoError(t, err)
	defer res.Body.Close()
	if got := res.Header.Get("Protocol"); got != "HTTP/1.1" {
		t.Errorf("the protocol is %s", got)
	}
}

func TestTLSSettingsSayWhatIsWrong(t *testing.T) {
	authority := certificates.New(t)
	folder := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	good, expired := authority.Issue(t, "x"), authority.IssueUntil(t, "x", time.Now().Add(-time.Hour))
	for want, s := range map[string]tlsSettings{
		"give both files": {Certificate: file("a", good.Certificate)},
		"no such file":    {Certificate: filepath.Join(folder, "missing"), Key: file("b", good.Key)},
		"private key":     {Certificate: file("c", good.Certificate), Key: file("d", expired.Key)},
		"has expired":     {Certificate: file("e", expired.Certificate), Key: file("f", expired.Key)},
	} {
		if _, err := s.config(nil, "tests", time.Now, slog.Default()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v", want, err)
		}
	}
}
