package receiver

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"riskdex/receiver/auth"
)

// TestSendersAreBoundedOneByOne: a sender that exceeds the rate is told when to retry,
// and others are not affected.
func TestSendersAreBoundedOneByOne(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	clock := func() time.Time { return now }
	const one, other = "the-first-token-of-ours", "the-second-token-of-ours"
	lock, err := auth.New(auth.Config{BearerFiles: secretFile(t, one+"\n"+other)}, clock, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	cfg := DefaultConfig()
	cfg.MaxRate, cfg.Authenticator = 2, lock
	r, err := New(cfg, new(recorder), clock, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	send := func(scheme, token, path string) *httptest.ResponseRecorder {
		req := httptest.NewRequest(http.MethodDelete, path, nil)
		req.Header.Set("Authorization", scheme+" "+token)
		rec := httptest.NewRecorder()
		r.ServeHTTP(rec, req)
		return rec
	}
	for i := range 2 {
		if got := send("Bearer", one, "/cities/1"); got.Code != http.StatusAccepted {
			t.Fatalf("delivery %d is answered %d, want 202", i, got.Code)
		}
	}
	// However the address is written, and whatever the path is.
	for _, path := range []string{"/cities/1", "/nowhere"} {
		got := send("bEARER", one, path)
		if wait, err := strconv.Atoi(got.Header().Get("Retry-After")); got.Code != http.StatusTooManyRequests || wait != 1 {
			t.Errorf("%s is answered %d with Retry-After %d, %v", path, got.Code, wait, err)
		}
	}
	if got := send("Bearer", other, "/cities/1"); got.Code != http.StatusAccepted {
		t.Errorf("another sender is answered %d", got.Code)
	}
	if got := send("Bearer", "a-token-of-somebody-else", "/cities/1"); got.Code != http.StatusUnauthorized {
		t.Errorf("an unauthenticated sender is answered %d", got.Code)
	}
	now = now.Add(time.Second / 2)
	if got := send("Bearer", one, "/cities/1"); got.Code != http.StatusAccepted {
		t.Errorf("half a second later the sender is answered %d", got.Code)
	}
}
