package auth

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"slices"
	"time"
)

// certificate is the method of TLS client certificates. It verifies the certificate at every
// request, so that no connection outlives the trust in its certificate. The listener only has
// to ask for one (tls.RequestClientCert or stricter); the handshake proves that the client
// has its key.
type certificate struct {
	*secrets[*x509.CertPool]
	names []string // of which the certificate must have one; any if there are none
}

func (m *certificate) check(r *http.Request, now time.Time) fault {
	trusted, err := m.get()
	if err != nil {
		return fault{cause: CauseClosed}
	}
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return fault{cause: CauseCertificate}
	}
	leaf, between := r.TLS.PeerCertificates[0], x509.NewCertPool()
	for _, c := range r.TLS.PeerCertificates[1:] {
		between.AddCert(c)
	}
	verified := slices.ContainsFunc(trusted, func(roots *x509.CertPool) bool {
		_, err := leaf.Verify(x509.VerifyOptions{
			Roots: roots, Intermediates: between, CurrentTime: now,
			KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		})
		return err == nil
	})
	if !verified || !m.hasName(leaf) {
		return fault{cause: CauseCertificate}
	}
	return fault{}
}

// hasName compares whole names: DNS names, URIs, and the common name.
func (m *certificate) hasName(c *x509.Certificate) bool {
	if len(m.names) == 0 {
		return true
	}
	has := append([]string{c.Subject.CommonName}, c.DNSNames...)
	for _, u := range c.URIs {
		has = append(has, u.String())
	}
	return slices.ContainsFunc(has, func(name string) bool { return name != "" && slices.Contains(m.names, name) })
}

func parseCertificates(content []byte) ([]*x509.CertPool, error) {
	pool, found := x509.NewCertPool(), false
	for rest := content; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return nil, errors.New("contains a " + block.Type + ", where only certificates in PEM are expected")
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		pool.AddCert(c)
		found = true
	}
	if !found {
		return nil, nil
	}
	return []*x509.CertPool{pool}, nil
}
