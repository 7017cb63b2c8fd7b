package auth

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// maxHops is how many addresses of X-Forwarded-For are read, from the right.
const maxHops = 32

// addresses is the method that checks where a request comes from.
type addresses struct {
	allowed []netip.Prefix
	proxies []netip.Prefix // whose X-Forwarded-For is believed
}

func newAddresses(allowed, proxies []string) (*addresses, error) {
	a := new(addresses)
	var err error
	if a.allowed, err = parseRanges(allowed); err != nil {
		return nil, fmt.Errorf("the addresses that deliveries are taken from: %w", err)
	}
	if a.proxies, err = parseRanges(proxies); err != nil {
		return nil, fmt.Errorf("the addresses of trusted proxies: %w", err)
	}
	return a, nil
}

func parseRanges(texts []string) (list []netip.Prefix, err error) {
	for _, text := range texts {
		text = strings.TrimSpace(text)
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			single, errSingle := netip.ParseAddr(text)
			if errSingle != nil || single.Zone() != "" {
				return nil, fmt.Errorf("%q is not a range of addresses: write it like 192.0.2.0/24, 2001:db8::/32 or 192.0.2.7", text)
			}
			prefix = netip.PrefixFrom(single, single.BitLen())
		}
		switch {
		case prefix.Addr().Is4In6():
			return nil, fmt.Errorf("%q is an IPv4 range in the spelling of IPv6: write it like 192.0.2.0/24", text)
		case prefix.Bits() == 0:
			return nil, fmt.Errorf("%q matches every address, so it restricts nothing: leave it out", text)
		case prefix != prefix.Masked():
			return nil, fmt.Errorf("%q has bits set beyond its length: did you mean %s?", text, prefix.Masked())
		}
		list = append(list, prefix)
	}
	return list, nil
}

func (a *addresses) ready() error { return nil }

func (a *addresses) check(r *http.Request, _ time.Time) fault {
	client, ok := a.client(r)
	if !ok || !isIn(a.allowed, client) {
		return fault{cause: CauseAddress}
	}
	return fault{}
}

// client returns the address that a request comes from: that of the connection, or, where
// that is a trusted proxy, the last one in X-Forwarded-For that is not. Anybody may have
// written what is to the left of it. Forwarded (RFC 7239) is not read: two headers can
// disagree.
func (a *addresses) client(r *http.Request) (netip.Addr, bool) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}, false
	}
	client := plain(peer.Addr())
	if !isIn(a.proxies, client) {
		return client, true
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	looked := 0
	for _, hop := range slices.Backward(hops) {
		if hop = strings.TrimSpace(hop); hop == "" && len(hops) == 1 {
			return client, true // the proxy's own request
		}
		if looked++; looked > maxHops {
			return netip.Addr{}, false
		}
		var ok bool
		if client, ok = parseHop(hop); !ok {
			return netip.Addr{}, false
		}
		if !isIn(a.proxies, client) {
			return client, true
		}
	}
	return client, true
}

// parseHop reads an address of X-Forwarded-For, with or without a port.
func parseHop(text string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")); err == nil {
		return plain(addr), true
	}
	withPort, err := netip.ParseAddrPort(text)
	return plain(withPort.Addr()), err == nil
}

// plain returns an address in the form that ranges are compared with.
func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

func isIn(ranges []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(addr) })
}
