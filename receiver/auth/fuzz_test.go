package auth

import (
	"bytes"
	"crypto/hmac"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Only senders with one of the secrets in their headers are accepted, whatever else the
// headers have.
func FuzzAuthorization(f *testing.F) {
	f.Add("Bearer "+token, "")
	f.Add(basic("anna:zürich-1234"), "Basic")
	f.Add("bearer  "+token+" ", "Bearer x")
	credentialsBroken := strings.Replace(basic("anna:zürich-1234"), "W", "W\n", 1)
	f.Add(credentialsBroken, "Bc")
	bearer := &authorization{fixed(f, []byte(token)), "Bearer", bearerShown}
	credentials := &authorization{fixed(f, []byte("anna:zürich-1234")), "Basic", basicShown}
	f.Fuzz(func(t *testing.T, one, two string) {
		r := &http.Request{Header: http.Header{"Authorization": {one, two}}}
		all := one + two
		if bearer.check(r, signedAt) == (fault{}) && !strings.Contains(all, token) {
			t.Errorf("%q is accepted", all)
		}
		if credentials.check(r, signedAt) == (fault{}) && !strings.Contains(all, basic("anna:zürich-1234")[6:]) {
			t.Errorf("%q is accepted", all)
		}
	})
}

func FuzzWebhookHeaders(f *testing.F) {
	key, err := webhookKey(keyOne)
	if err != nil {
		f.Fatal(err)
	}
	f.Add("msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", "1800000000", "v1,GEFHkOBnuPJVp3iCPxjT8IYaOPNKIbun7f0SLPx4ljw=", []byte(body))
	f.Add("a.b", "1800000000.5", "v1, v1a,x v2,y", []byte{})
	m := &webhook{fixed(f, key)}
	f.Fuzz(func(t *testing.T, id, timestamp, list string, body []byte) {
		r := &http.Request{Header: http.Header{webhookID: {id}, webhookTimestamp: {timestamp}, webhookSignature: {list}}}
		early := m.check(r, signedAt)
		got, wrong := m.verify(r, body, signedAt)
		if early.cause != "" && wrong.cause == "" {
			t.Error("the delivery is accepted once its body is verified, although its headers were refused")
		}
		if wrong.cause != "" {
			return
		}
		s, _ := readSigned(r.Header, signedAt)
		want := sign(key, id, timestamp, body)
		if got != id || strings.Contains(id, ".") || s.at.Sub(signedAt).Abs() > 5*time.Minute ||
			!slices.ContainsFunc(s.signatures, func(b []byte) bool { return hmac.Equal(b, want) }) {
			t.Errorf("%q %q %q is accepted as %q", id, timestamp, list, got)
		}
	})
}

func FuzzHubHeader(f *testing.F) {
	f.Add("sha256=6b61eccabfb4e6f6417ee73e4ed255c064052a6ea882abd1c5ad30b91a79b3e8", []byte(body))
	f.Add("sha256=", []byte{})
	m := &hub{fixed(f, []byte(keyOne))}
	f.Fuzz(func(t *testing.T, value string, body []byte) {
		r := &http.Request{Header: http.Header{hubSignature: {value}}}
		if _, wrong := m.verify(r, body, signedAt); wrong.cause != "" {
			return
		}
		if signature, _ := hubSignatureOf(r.Header); !bytes.Equal(signature, signHub([]byte(keyOne), body)) {
			t.Errorf("%q is accepted", value)
		}
	})
}

// Whatever the header has, an address counts only if a trusted proxy wrote it: anything
// to the left of an untrusted address changes nothing.
func FuzzForwardedFor(f *testing.F) {
	f.Add("192.0.2.7", "10.0.0.1", false)
	f.Add("192.0.2.7, unknown, [::1]:80", " 203.0.113.9:80", true)
	a, err := newAddresses([]string{"192.0.2.0/24"}, []string{"10.0.0.0/8"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, left, right string, twoLines bool) {
		header := []string{left + "," + right}
		if twoLines {
			header = []string{left, right}
		}
		r := &http.Request{RemoteAddr: "203.0.113.9:1", Header: http.Header{"X-Forwarded-For": header}}
		if client, ok := a.client(r); !ok || client != netip.MustParseAddr("203.0.113.9") {
			t.Errorf("an untrusted address is taken for %v", client)
		}
		r.RemoteAddr = "10.0.0.1:1"
		r.Header["X-Forwarded-For"] = []string{left + ",203.0.113.9,10.0.0.2"}
		if a.check(r, signedAt) == (fault{}) {
			t.Errorf("an untrusted address is accepted because of %q", left)
		}
		r.Header["X-Forwarded-For"] = header
		if a.check(r, signedAt) == (fault{}) && !strings.Contains(left+right, "192.0.2.") && !strings.Contains(strings.ToLower(left+right), "c000") {
			t.Errorf("%q and %q are accepted", left, right)
		}
	})
}

// Every file is refused, or its secrets are long enough.
func FuzzSecretFile(f *testing.F) {
	f.Add([]byte(token + "\n# " + otherToken + "\r\n\n" + keyOne))
	f.Add([]byte("anna:zürich-1234\xff\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, kind := range []struct {
			least int
			one   func(string) ([]byte, error)
		}{{minSecret, bearerToken}, {minSecret, hubKey}, {minSecret, webhookKey}, {minPassword + len("u:"), basicCredentials}} {
			list, err := perLine(kind.one)(content)
			if err != nil && len(list) > 0 {
				t.Error("there are secrets although there is an error")
			}
			for _, secret := range list {
				if len(secret) < kind.least {
					t.Errorf("%q is taken for a secret", secret)
				}
			}
		}
	})
}

// fixed are secrets that never change.
func fixed(f *testing.F, secret []byte) *secrets[[]byte] {
	name := filepath.Join(f.TempDir(), "secret")
	if err := os.WriteFile(name, secret, 0o600); err != nil {
		f.Fatal(err)
	}
	whole := func(content []byte) ([][]byte, error) { return [][]byte{content}, nil }
	s, err := openSecrets(nil, "secrets", []string{name}, whole, func() time.Time { return signedAt }, slog.New(slog.DiscardHandler))
	if err != nil {
		f.Fatal(err)
	}
	return s
}
