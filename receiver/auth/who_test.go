package auth

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
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
