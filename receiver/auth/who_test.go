package auth

import (
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestWho distinguishes senders by their credentials, or else by their addresses.
func TestWho(t *testing.T) {
	who := func(cfg Config, from, authorization string) string {
		t.Helper()
		authenticator, err := New(cfg, time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPut, "/", nil)
		r.RemoteAddr = from
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		return authenticator.Who(r)
	}
	const here, next, there = "[2001:db8::1]:1", "[2001:db8::2]:2", "192.0.2.1:3"
	tokens := Config{BearerFiles: []string{file(t, "one-token-of-the-publisher")}}
	signed := Config{WebhookFiles: []string{file(t, "whsec_cmlza2RleC10ZXN0LWtleS1vbmUtb2YtMzItYnl0ZXM=")}}
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"the same token, spelt otherwise, from elsewhere": {who(tokens, here, "Bearer a"), who(tokens, there, "bearer  a"), true},
		"another token":                     {who(tokens, here, "Bearer a"), who(tokens, here, "Bearer b"), false},
		"signed":                            {who(signed, here, ""), who(signed, there, ""), true},
		"addresses":                         {who(Config{}, here, ""), who(Config{}, there, ""), false},
		"addresses of one network, by IPv6": {who(Config{}, here, ""), who(Config{}, next, ""), true},
	} {
		if (c.a == c.b) != c.same {
			t.Errorf("%s: %q and %q", name, c.a, c.b)
		}
	}
}

// TestSender names who sent a request, and never tells a secret.
func TestSender(t *testing.T) {
	const secret = "a-long-secret-of-the-publisher"
	for name, c := range map[string]struct {
		cfg           Config
		authorization string
		sender        string
	}{
		"nothing required": {Config{}, "", ""},
		"a token":          {Config{BearerFiles: []string{file(t, secret)}}, "Bearer " + secret, "bearer token"},
		"the second token": {Config{BearerFiles: []string{file(t, "another-secret-of-the-publisher\n"+secret)}}, "Bearer " + secret, "bearer token 2"},
		"a user":           {Config{BasicFiles: []string{file(t, "cms:"+secret)}}, "Basic " + base64.StdEncoding.EncodeToString([]byte("cms:"+secret)), "cms"},
		"signed":           {Config{WebhookFiles: []string{file(t, "whsec_cmlza2RleC10ZXN0LWtleS1vbmUtb2YtMzItYnl0ZXM=")}}, "", "webhook signature"},
	} {
		authenticator, err := New(c.cfg, time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(name, err)
		}
		r := httptest.NewRequest(http.MethodPut, "/", nil)
		r.RemoteAddr = "192.0.2.7:1234"
		if c.authorization != "" {
			r.Header.Set("Authorization", c.authorization)
		}
		sender, address := authenticator.Sender(r)
		if sender != c.sender || address != "192.0.2.7" || strings.Contains(sender, secret) {
			t.Errorf("%s: the sender is %q at %q, want %q", name, sender, address, c.sender)
		}
	}
}
