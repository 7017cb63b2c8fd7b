package auth

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
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
	return a.source().network(r)
}

// Sender returns the name of the credential that an accepted request has shown, without any
// secret, and the address of its sender. The name is empty if none is required.
func (a *Authenticator) Sender(r *http.Request) (name, address string) {
	var names []string
	for _, m := range a.methods {
		if m, ok := m.(interface{ sender(r *http.Request) string }); ok {
			names = append(names, m.sender(r))
		}
	}
	if client := a.client(r); client.IsValid() {
		address = client.String()
	}
	return strings.Join(names, ", "), address
}

// sender returns the user of basic credentials. Tokens have no names, so they are numbered as
// in their files.
func (a *authorization) sender(r *http.Request) string {
	shown := a.name(r)
	if a.scheme == "Basic" {
		user, _, _ := strings.Cut(string(shown), ":")
		return user
	}
	list, err := a.get()
	if err == nil && len(list) > 1 {
		for i := range list {
			if isOneOf(list[i:i+1], shown) {
				return fmt.Sprintf("bearer token %d", i+1)
			}
		}
	}
	return "bearer token"
}

// sender returns the first name in the certificate.
func (m *certificate) sender(r *http.Request) string {
	c := r.TLS.PeerCertificates[0]
	names := append([]string{c.Subject.CommonName}, c.DNSNames...)
	for _, u := range c.URIs {
		names = append(names, u.String())
	}
	return cmp.Or(append(names, "certificate "+c.SerialNumber.String())...)
}

func (m *webhook) sender(*http.Request) string { return "webhook signature" }
func (m *hub) sender(*http.Request) string     { return "hub signature" }

// client returns the address of the sender, which is not valid if it is unknown.
func (a *Authenticator) client(r *http.Request) netip.Addr {
	client, _ := a.source().client(r)
	return client
}

// source tells where requests come from.
func (a *Authenticator) source() *addresses {
	for _, m := range a.methods {
		if a, ok := m.(*addresses); ok {
			return a
		}
	}
	return new(addresses)
}

// Networks tells clients without credentials apart. It is Who for something other than deliveries.
type Networks struct{ from *addresses }

// NewNetworks returns Networks behind proxies, address ranges whose X-Forwarded-For is trusted.
func NewNetworks(proxies []string) (Networks, error) {
	from, err := newAddresses(nil, proxies)
	return Networks{from}, err
}

// Of returns the address of a client, or the /64 network of its IPv6 address.
func (n Networks) Of(r *http.Request) string { return n.from.network(r) }

func (a *addresses) network(r *http.Request) string {
	client, _ := a.client(r)
	if client.Is6() {
		return netip.PrefixFrom(client, 64).Masked().String()
	}
	return client.String()
}
