package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/url"
	"testing"
	"time"

	"riskdex/internal/reread"
)

// issuer makes certificates.
type issuer struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	der  [][]byte // its own, and those above it except for the root
}

func (i *issuer) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.cert.Raw}))
}

func root(t *testing.T) *issuer {
	t.Helper()
	i := (&issuer{t: t}).issue(func(c *x509.Certificate) { c.IsCA = true })
	i.der = nil
	return i
}

// issue makes a certificate that change can alter. A nil issuer makes a self-signed one.
func (i *issuer) issue(change func(*x509.Certificate)) *issuer {
	i.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		i.t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "publisher"},
		DNSNames: []string{"feed.example"}, URIs: []*url.URL{{Scheme: "spiffe", Host: "example", Path: "/feed"}},
		NotBefore: signedAt.Add(-time.Hour), NotAfter: signedAt.Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, BasicConstraintsValid: true,
	}
	change(c)
	if c.IsCA {
		c.KeyUsage, c.ExtKeyUsage, c.DNSNames, c.URIs = x509.KeyUsageCertSign, nil, nil, nil
		c.Subject.CommonName = "authority"
	}
	parent, signer := c, key
	if i.cert != nil {
		parent, signer = i.cert, i.key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		i.t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		i.t.Fatal(err)
	}
	return &issuer{t: i.t, cert: c, key: key, der: append([][]byte{der}, i.der...)}
}

// wantWith sends over TLS, with a client certificate if there is one.
func (g *gate) wantWith(what string, cause Cause, client *issuer) {
	g.t.Helper()
	cfg := g.server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	if client != nil {
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &tls.Certificate{Certificate: client.der, PrivateKey: client.key}, nil
		}
	}
	transport := &http.Transport{TLSClientConfig: cfg}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequest("DELETE", g.server.URL, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		g.t.Fatalf("%s: %v", what, err)
	}
	res.Body.Close()
	if got := Cause(res.Header.Get("Cause")); got != cause {
		g.t.Errorf("%s: %q, want %q", what, got, cause)
	}
}

// startTLS has a listener that asks for a client certificate and verifies nothing, as a
// listener may.
func startTLS(t *testing.T, cfg Config) *gate {
	t.Helper()
	g := build(t, cfg)
	g.server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	g.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	g.server.StartTLS()
	t.Cleanup(g.server.Close)
	return g
}

func same(*x509.Certificate) {}

func TestClientCertificates(t *testing.T) {
	ours, theirs := root(t), root(t)
	between := ours.issue(func(c *x509.Certificate) { c.IsCA = true })
	client := ours.issue(same)
	g := startTLS(t, Config{ClientCAFiles: []string{file(t, "a comment\n"+ours.pem())}})
	g.wantWith("ours", "", client)
	g.wantWith("ours, by way of another", "", between.issue(same))
	g.wantWith("none", CauseCertificate, nil)
	g.wantWith("of another authority of the same name", CauseCertificate, theirs.issue(same))
	g.wantWith("signed by itself", CauseCertificate, (&issuer{t: t}).issue(same))
	g.wantWith("signed by a client", CauseCertificate, client.issue(same))
	g.wantWith("expired", CauseCertificate, ours.issue(func(c *x509.Certificate) { c.NotAfter = signedAt.Add(-time.Second) }))
	g.wantWith("not yet valid", CauseCertificate, ours.issue(func(c *x509.Certificate) { c.NotBefore = signedAt.Add(time.Second) }))
	g.wantWith("for servers only", CauseCertificate, ours.issue(func(c *x509.Certificate) {
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}))
	lost := between.issue(same)
	lost.der = lost.der[:1]
	g.wantWith("without the one between", CauseCertificate, lost)
	g.set(signedAt.Add(2 * time.Hour))
	g.wantWith("ours, once it has expired", CauseCertificate, client)

	plain := start(t, Config{ClientCAFiles: []string{file(t, ours.pem())}})
	plain.want("without TLS", CauseCertificate, body, "X-Client-Cert", "CN=publisher")
}

func TestNamesOfClientCertificates(t *testing.T) {
	ours := root(t)
	client := ours.issue(same)
	for name, want := range map[string]Cause{
		"publisher": "", "feed.example": "", "spiffe://example/feed": "",
		"": CauseCertificate, "example": CauseCertificate, "x.feed.example": CauseCertificate, "PUBLISHER": CauseCertificate,
	} {
		g := startTLS(t, Config{ClientCAFiles: []string{file(t, ours.pem())}, ClientNames: []string{"somebody else", name}})
		g.wantWith(name, want, client)
		g.wantWith("nameless, where "+name+" is wanted", CauseCertificate, ours.issue(func(c *x509.Certificate) {
			c.Subject.CommonName, c.DNSNames, c.URIs = "", nil, nil
		}))
	}
}

func TestRotationOfAuthorities(t *testing.T) {
	old, next := root(t), root(t)
	name := file(t, old.pem())
	g := startTLS(t, Config{ClientCAFiles: []string{name}})
	ofOld, ofNext := old.issue(same), next.issue(same)
	g.wantWith("the old one", "", ofOld)
	g.wantWith("the next one", CauseCertificate, ofNext)
	write(t, name, old.pem()+next.pem())
	g.set(g.now().Add(reread.Every))
	g.wantWith("the old one beside the next", "", ofOld)
	g.wantWith("the next one beside the old", "", ofNext)
	write(t, name, "")
	g.set(g.now().Add(reread.Every))
	g.wantWith("with none", CauseClosed, ofOld)
	write(t, name, next.pem())
	g.set(g.now().Add(reread.Every))
	g.wantWith("the old one without trust", CauseCertificate, ofOld)
	g.wantWith("the next one alone", "", ofNext)
}
