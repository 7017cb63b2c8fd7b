package auth

import (
	"net/http"
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	const peer, proxy, other = "192.0.2.7:1234", "10.0.0.1:1234", "203.0.113.9:1234"
	cfg := Config{
		AllowFrom:      []string{"192.0.2.0/24", "2001:db8::/32", " 198.51.100.4"},
		TrustedProxies: []string{"10.0.0.0/8", "fd00::/8"},
	}
	many := strings.TrimSuffix(strings.Repeat("10.0.0.2, ", maxHops), ", ")
	for _, c := range []struct {
		what, remote string
		forwarded    []string
		in           bool
	}{
		{"from within", peer, nil, true},
		{"from without", other, nil, false},
		{"a single address", "198.51.100.4:1", nil, true},
		{"the one beside it", "198.51.100.5:1", nil, false},
		{"IPv6", "[2001:db8::1]:1", nil, true},
		{"IPv6 with a zone", "[2001:db8::1%eth0]:1", nil, true},
		{"IPv4 in IPv6", "[::ffff:192.0.2.7]:1", nil, true},
		{"IPv6 from without", "[2001:db9::1]:1", nil, false},
		{"no address", "@", nil, false},

		{"a stranger who claims to be forwarded", other, []string{"192.0.2.7"}, false},
		{"and from a proxy", other, []string{"192.0.2.7, 10.0.0.1"}, false},
		{"one from within, whatever it claims", peer, []string{"203.0.113.9"}, true},
		{"by a proxy", proxy, []string{"192.0.2.7"}, true},
		{"by a proxy, for a stranger", proxy, []string{"203.0.113.9"}, false},
		{"a stranger who wrote something before", proxy, []string{"192.0.2.7, 203.0.113.9"}, false},
		{"and in a line of its own", proxy, []string{"192.0.2.7", "203.0.113.9"}, false},
		{"one from within who wrote something before", proxy, []string{"203.0.113.9, nonsense", "192.0.2.7"}, true},
		{"by two proxies", proxy, []string{"203.0.113.9, 192.0.2.7, 10.9.9.9"}, true},
		{"a stranger by two proxies", proxy, []string{"192.0.2.7, 203.0.113.9, 10.9.9.9"}, false},
		{"a stranger behind nonsense", proxy, []string{"192.0.2.7, unknown"}, false},
		{"an empty hop", proxy, []string{"192.0.2.7, "}, false},
		{"with ports", proxy, []string{"192.0.2.7:4711, [fd00::1]:80"}, true},
		{"IPv6 in brackets", "[fd00::1]:1", []string{"[2001:db8::1]"}, true},
		{"IPv4 in IPv6 by a proxy in IPv6", "[::ffff:10.0.0.1]:1", []string{"::ffff:192.0.2.7"}, true},
		{"the proxy's own", proxy, nil, false},
		{"only proxies", proxy, []string{"10.0.0.2"}, false},
		{"too many proxies", proxy, []string{"192.0.2.7, " + many}, false},
	} {
		g := build(t, cfg)
		r, err := http.NewRequest("PUT", "/cities/130", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.RemoteAddr = c.remote
		r.Header["X-Forwarded-For"] = c.forwarded
		r.Header.Set("Forwarded", "for=192.0.2.7") // is ignored
		r.Header.Set("X-Real-Ip", "192.0.2.7")
		refusal := g.authenticator.Authenticate(r)
		if in := refusal == nil; in != c.in || !in && (refusal.Cause != CauseAddress || refusal.Status != http.StatusForbidden) {
			t.Errorf("%s: refusal %+v, want accepted: %t", c.what, refusal, c.in)
		}
	}
}

func TestAddressOfARealConnection(t *testing.T) {
	start(t, Config{AllowFrom: []string{"127.0.0.0/8", "::1"}}).want("from here", "", body)
	start(t, Config{AllowFrom: []string{"192.0.2.0/24"}}).want("from elsewhere", CauseAddress, body)
}
