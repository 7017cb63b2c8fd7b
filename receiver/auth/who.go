package auth

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/netip"
)

// named is a method whose secrets tell senders apart.
type named interface {
	// name returns the secret that a request has shown, which was let in with it.
	name(r *http.Request) []byte
}

func (a *authorization) name(r *http.Request) []byte {
	parameter, _ := authorizationOf(r.Header, a.scheme)
	shown, _ := a.decode(parameter)
	return shown
}

func (m *certificate) name(r *http.Request) []byte { return r.TLS.PeerCertificates[0].Raw }

// Who returns the same text for every request of one sender, which was let in: one
// for each credential. Those who sign are one sender. Where nothing is shown, it is
// one for each address, or each network of an IPv6 site (/64). There is nothing
// secret in it.
func (d *Door) Who(r *http.Request) string {
	digest, shown := sha256.New(), false
	for _, m := range d.methods {
		if n, ok := m.(named); ok {
			secret := n.name(r)
			fmt.Fprintf(digest, "%d\n%s", len(secret), secret)
			shown = true
		}
	}
	switch {
	case shown:
		return fmt.Sprintf("%x", digest.Sum(nil))
	case d.Signed():
		return "signed"
	}
	return d.network(r)
}

func (d *Door) network(r *http.Request) string {
	source := new(addresses)
	for _, m := range d.methods {
		if a, ok := m.(*addresses); ok {
			source = a
		}
	}
	client, _ := source.client(r)
	if client.Is6() {
		return netip.PrefixFrom(client, 64).Masked().String()
	}
	return client.String()
}
