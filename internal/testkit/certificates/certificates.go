// Package certificates makes certificates for tests.
package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"riskdex/internal/testkit/require"
)

// Authority signs certificates. It is valid for a day.
type Authority struct {
	PEM         []byte
	Fingerprint string // SHA-256, hexadecimal
	Pool        *x509.CertPool

	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Pair is a certificate with its key.
type Pair struct {
	Certificate, Key []byte // PEM; the certificate is followed by its authority's
	TLS              tls.Certificate
}

// New makes an authority of its own.
func New(t *testing.T) *Authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	sum := sha256.Sum256(der)
	a := &Authority{PEM: encode("CERTIFICATE", der), Fingerprint: hex.EncodeToString(sum[:]), Pool: x509.NewCertPool(), certificate: certificate, key: key}
	a.Pool.AddCert(certificate)
	return a
}

// Issue makes a certificate under a name, for a server on the loopback address or
// a client.
func (a *Authority) Issue(t *testing.T, name string) Pair {
	t.Helper()
	return a.IssueUntil(t, name, time.Now().Add(time.Hour))
}

// IssueUntil is Issue for a certificate that ends at a time of the caller's.
func (a *Authority) IssueUntil(t *testing.T, name string, end time.Time) Pair {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name, "localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		NotBefore:   time.Now().Add(-2 * time.Hour), NotAfter: end,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	p := Pair{Certificate: append(encode("CERTIFICATE", der), a.PEM...), Key: encode("PRIVATE KEY", keyDER)}
	p.TLS, err = tls.X509KeyPair(p.Certificate, p.Key)
	require.NoError(t, err)
	return p
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

func serial(t *testing.T) *big.Int {
	t.Helper()
	n, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(t, err)
	return n
}

func encode(what string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: what, Bytes: der})
}
