package auth

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/netip"
)

// named is a method whose secrets distinguish senders.
type named interface {
	// name returns the secret that an accepted request has shown.
	name(r *http.Request) []byte
}

func (a *authorization) name(r *http.Request) []byte {
	parameter, _ := authorizationOf(r.Header, a.scheme)
	shown, _ := a.decode(parameter)
	return shown
}

func (m *certificate) name(r *http.Request) []byte { return r.TLS.PeerCertificates[0].Raw }

// Who returns a text that identifies the sender of an accepted request by its credentials, and
// reveals none of them. All senders that only sign count as one. Without credentials, the sender is
// its address, or the /64 network of its IPv6 address.
func (a *Authenticator) Who(r *http.Request) string {
	digest, shown := sha256.New(), false
	for _, m := range a.methods {
		if n, ok := m.(named); ok {
			secret := n.name(r)
			fmt.Fprintf(digest, "%d\n%s", len(secret), secret)
			shown = true
		}
	}
	switch {
	case shown:
		return fmt.Sprintf("%x", digest.Sum(nil))
	case a.Signed():
		return "signed"
	}
	return a.network(r)
}

func (a *Authenticator) network(r *http.Request) string {
	source := new(addresses)
	for _, m := range a.methods {
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
