package main

import (
	"crypto/tls"
	"log/slog"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"riskdex/admin"
	"riskdex/internal/testkit/certificates"
	"riskdex/internal/testkit/elasticserver/elastictest"
	"riskdex/internal/testkit/require"
	"riskdex/report"
)

// TestCertificateThatIsNotReplacedIsTold: once it has expired, the publisher cannot deliver, and
// nothing comes that would show it.
func TestCertificateThatIsNotReplacedIsTold(t *testing.T) {
	authority := certificates.New(t)
	folder := t.TempDir()
	files := tlsSettings{filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")}
	put := func(end time.Duration) {
		pair := authority.IssueUntil(t, "localhost", time.Now().Add(end)) // begun two hours ago
		require.NoError(t, os.WriteFile(files.Certificate, pair.Certificate, 0o600))
		require.NoError(t, os.WriteFile(files.Key, pair.Key, 0o600))
	}
	put(100 * time.Second) // of a life of two hours
	p := newProcess(t, elastictest.URL(t), "--tls-cert-file", files.Certificate, "--tls-key-file", files.Key)
	p.start()
	trouble := p.says(admin.TroubleCertificate)
	if trouble.Severity != admin.Critical || !strings.Contains(trouble.Remedy, "--tls-cert-file") {
		t.Errorf("the trouble is %+v, want a critical one with a remedy for the certificate", trouble)
	}
	put(5 * time.Minute)
	if trouble := p.says(admin.TroubleNotRenewed); trouble.Severity != admin.Warning || !strings.Contains(trouble.Remedy, "--tls-cert-file") {
		t.Errorf("the trouble is %+v, want a warning with the same remedy", trouble)
	}
	const metric = "riskdex_certificate_replace_by_timestamp_seconds"
	now := float64(time.Now().Unix())
	if by := p.metrics()[metric]; by > now || by < now-900 {
		t.Errorf("%s is %v at %v", metric, by, now)
	}
	put(time.Hour)
	eventually(t, "all is well", func() bool { return p.status().Well })
	if by := p.metrics()[metric]; by < now+1800 {
		t.Errorf("%s is %v after it was replaced at %v", metric, by, now)
	}
}

// TestExpiredCertificateOfElasticsearchIsTold in the first line of the status, until there
// is a valid one. Nothing is lost meanwhile, and nothing has to be restarted.
func TestExpiredCertificateOfElasticsearchIsTold(t *testing.T) {
	authority := certificates.New(t)
	valid, expired := authority.Issue(t, "localhost"), authority.IssueUntil(t, "localhost", time.Now().Add(-time.Hour))
	var shown atomic.Pointer[tls.Certificate]
	shown.Store(&expired.TLS)
	p := newProcess(t, elastictest.URL(t), "--probe-every", "0")
	direct := p.elasticsearch
	target, err := url.Parse(direct)
	require.NoError(t, err)
	way := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(target))
	way.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	way.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return &tls.Config{Certificates: []tls.Certificate{*shown.Load()}}, nil
	}}
	way.StartTLS()
	t.Cleanup(way.Close)
	authorities := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(authorities, authority.PEM, 0o600))
	p.elasticsearch = way.URL
	p.extra = append(p.extra, "--elasticsearch-ca-file", authorities)
	p.start()
	var trouble admin.Trouble
	eventually(t, "status says why", func() bool {
		trouble = p.says(admin.TroubleElasticsearch)
		return strings.Contains(trouble.Detail, "certificate has expired")
	})
	if trouble.Severity != admin.Critical || !strings.Contains(trouble.Remedy, "certificate") {
		t.Errorf("the trouble is %+v, want a critical one with a remedy for the certificate", trouble)
	}
	if status := p.send("PUT", "/cities/1", `{"title":"Sydney"}`); status != 202 {
		t.Errorf("status %d", status)
	}
	if up := p.metrics()["riskdex_elasticsearch_up"]; up != 0 {
		t.Errorf("riskdex_elasticsearch_up is %v", up)
	}
	shown.Store(&valid.TLS)
	eventually(t, "all is well", func() bool { return p.status().Well })
	p.drained()
	if up := p.metrics()["riskdex_elasticsearch_up"]; up != 1 {
		t.Errorf("riskdex_elasticsearch_up is %v", up)
	}
	p.elasticsearch = direct
	if n := len(p.indexed(report.Cities)); n != 1 {
		t.Errorf("the index has %d documents", n)
	}
}
