package otlp

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"riskdex/internal/testkit/certificates"
	"riskdex/internal/testkit/require"
)

func TestFromEnvironment(t *testing.T) {
	const usual = "http://localhost:4318/v1/traces"
	for _, c := range []struct {
		env     string // without the prefix OTEL_EXPORTER_OTLP_
		url     string
		headers string
		timeout time.Duration
		gzip    bool
		problem string // part of the error
	}{
		{"", usual, "", 10 * time.Second, false, ""},
		{"ENDPOINT=http://c:4318", "http://c:4318/v1/traces", "", 10 * time.Second, false, ""},
		{"ENDPOINT=https://c/otlp/?tenant=a", "https://c/otlp/v1/traces?tenant=a", "", 10 * time.Second, false, ""},
		{"TRACES_ENDPOINT=https://c/here ENDPOINT=http://d", "https://c/here", "", 10 * time.Second, false, ""},
		{"TRACES_ENDPOINT=http://c:4318", "http://c:4318", "", 10 * time.Second, false, ""},
		{"ENDPOINT=collector:4318", usual, "", 10 * time.Second, false, "OTEL_EXPORTER_OTLP_ENDPOINT: not a URL"},
		{"ENDPOINT=http://%zz", usual, "", 10 * time.Second, false, "OTEL_EXPORTER_OTLP_ENDPOINT: not a URL"},
		{"HEADERS=api-key=a%20b,,tenant=c=d", usual, "Api-Key: a b\r\nTenant: c=d\r\n", 10 * time.Second, false, "header 2"},
		{"HEADERS=a=secret%zz,b=1,c\n=2,d=%0a3", usual, "B: 1\r\nC: 2\r\nD: 3\r\n", 10 * time.Second, false, "header 1"},
		{"HEADERS=a=1 TRACES_HEADERS=b=2", usual, "B: 2\r\n", 10 * time.Second, false, ""},
		{"TIMEOUT=1500", usual, "", 1500 * time.Millisecond, false, ""},
		{"TIMEOUT=1500 TRACES_TIMEOUT=2000", usual, "", 2 * time.Second, false, ""},
		{"TIMEOUT=1s", usual, "", 10 * time.Second, false, "OTEL_EXPORTER_OTLP_TIMEOUT: not a number"},
		{"TIMEOUT=-1", usual, "", 10 * time.Second, false, "OTEL_EXPORTER_OTLP_TIMEOUT: not a number"},
		{"COMPRESSION=gzip", usual, "", 10 * time.Second, true, ""},
		{"COMPRESSION=gzip TRACES_COMPRESSION=none", usual, "", 10 * time.Second, false, ""},
		{"TRACES_COMPRESSION=zstd", usual, "", 10 * time.Second, false, "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: neither"},
		{"CERTIFICATE=/nowhere/ca.pem", usual, "", 10 * time.Second, false, "OTEL_EXPORTER_OTLP_CERTIFICATE: open /nowhere/ca.pem"},
		{"CERTIFICATE=config_test.go", usual, "", 10 * time.Second, false, "config_test.go has no certificate"},
		{"CLIENT_CERTIFICATE=config_test.go", usual, "", 10 * time.Second, false, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: "},
	} {
		env := map[string]string{}
		for pair := range strings.SplitSeq(c.env, " ") {
			name, value, _ := strings.Cut(pair, "=")
			env["OTEL_EXPORTER_OTLP_"+name] = value
		}
		got, err := FromEnvironment(func(name string) string { return env[name] })
		if (err == nil) != (c.problem == "") || err != nil && (!strings.Contains(err.Error(), c.problem) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%q: the error is %v, want %q and no secret", c.env, err, c.problem)
		}
		var headers strings.Builder
		require.NoError(t, got.Headers.Write(&headers))
		if got.URL != c.url || headers.String() != c.headers || got.Timeout != c.timeout || got.Gzip != c.gzip {
			t.Errorf("%q: got %+v, want URL %q, headers %q, timeout %v, gzip %v", c.env, got, c.url, c.headers, c.timeout, c.gzip)
		}
	}
}

// TestCertificates: a collector demands a client certificate, and has one of a private authority.
func TestCertificates(t *testing.T) {
	dir, authority := t.TempDir(), certificates.New(t)
	file := func(name string, pem []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, pem, 0o600))
		return path
	}
	server, client := authority.Issue(t, "collector"), authority.Issue(t, "riskdex")
	collector := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	collector.TLS = &tls.Config{Certificates: []tls.Certificate{server.TLS}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authority.Pool}
	collector.Config.ErrorLog = log.New(io.Discard, "", 0)
	collector.StartTLS()
	t.Cleanup(collector.Close)
	all := map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT":                  collector.URL,
		"OTEL_EXPORTER_OTLP_CERTIFICATE":               file("ca", authority.PEM),
		"OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE": file("cert", client.Certificate),
		"OTEL_EXPORTER_OTLP_CLIENT_KEY":                file("key", client.Key),
	}
	for _, without := range []string{"", "OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE"} {
		cfg, err := FromEnvironment(func(name string) string {
			if name == without {
				return ""
			}
			return all[name]
		})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // not enough for a second attempt
		if err = New(cfg).ExportSpans(ctx, spans); (err == nil) != (without == "") {
			t.Errorf("without the variable %q the error is %v", without, err)
		}
		cancel()
	}
}
