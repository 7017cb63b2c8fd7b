package admin_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"riskdex/admin"
)

// withAllow returns an admin listener that requires a token.
func withAllow(allow func(string) (bool, error)) http.Handler {
	return admin.New(admin.Parts{
		Health: admin.Health{CanAccept: func() error { return nil }, ElasticsearchUp: func() bool { return true }},
		Allow:  allow, Log: slog.New(slog.DiscardHandler),
	})
}

func knows(token string) func(string) (bool, error) {
	return func(shown string) (bool, error) { return shown == token, nil }
}

// TestTokenIsRequired on every path except those for supervisors.
func TestTokenIsRequired(t *testing.T) {
	h := withAllow(knows("right"))
	for name, c := range map[string]struct {
		path   string
		show   func(*http.Request)
		status int
	}{
		"livez":            {"/livez", nil, http.StatusOK},
		"readyz":           {"/readyz", nil, http.StatusOK},
		"nothing shown":    {"/debug/pprof/heap", nil, http.StatusUnauthorized},
		"unknown path":     {"/x", nil, http.StatusUnauthorized},
		"livez by a trick": {"/livez/../debug/pprof/heap", nil, http.StatusUnauthorized},
		"a bearer token":   {"/debug/pprof/heap", bearer("right"), http.StatusOK},
		"another token":    {"/debug/pprof/heap", bearer("wrong"), http.StatusUnauthorized},
		"a password":       {"/debug/pprof/heap", basic("any", "right"), http.StatusOK},
		"another password": {"/debug/pprof/heap", basic("right", "wrong"), http.StatusUnauthorized},
		"another scheme":   {"/debug/pprof/heap", func(r *http.Request) { r.Header.Set("Authorization", "Token right") }, http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			req := httptest.NewRequest(http.MethodGet, c.path, nil)
			if c.show != nil {
				c.show(req)
			}
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, req)
			if rec.Code != c.status {
				t.Errorf("answered %d, want %d", rec.Code, c.status)
			}
			if challenges := rec.Header().Values("WWW-Authenticate"); (len(challenges) == 2) != (c.status == http.StatusUnauthorized) {
				t.Errorf("the answer has the challenges %v", challenges)
			}
		})
	}
}

func bearer(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "bearer "+token) }
}

func basic(user, password string) func(*http.Request) {
	return func(r *http.Request) { r.SetBasicAuth(user, password) }
}

func TestNobodyIsAcceptedWithoutReadableTokens(t *testing.T) {
	h := withAllow(func(string) (bool, error) { return true, errors.New("no such file: secret") })
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/debug/pprof/heap", nil))
	if rec.Code != http.StatusServiceUnavailable || strings.Contains(rec.Body.String(), "secret") {
		t.Errorf("without tokens the profile is answered %d: %s", rec.Code, rec.Body)
	}
}

// TestTokenDoesNotAdmitForeignPages: a browser sends the token on their behalf.
func TestTokenDoesNotAdmitForeignPages(t *testing.T) {
	h := withAllow(knows("right"))
	for origin, status := range map[string]int{"https://evil.example": http.StatusForbidden, "http://riskdex.internal": http.StatusNotFound} {
		req := httptest.NewRequest(http.MethodPost, "http://riskdex.internal/api/dead/drop", nil)
		req.SetBasicAuth("any", "right")
		req.Header.Set("Origin", origin)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		if rec.Code != status {
			t.Errorf("%s: %d, want %d", origin, rec.Code, status)
		}
	}
}

// TestTokenAdmitsAnyHostName: a browser sends the token only to the name that a
// person entered it for.
func TestTokenAdmitsAnyHostName(t *testing.T) {
	h := withAllow(knows("right"))
	for token, status := range map[string]int{"right": http.StatusOK, "wrong": http.StatusUnauthorized} {
		req := httptest.NewRequest(http.MethodGet, "https://riskdex.internal/debug/pprof/heap", nil)
		req.SetBasicAuth("any", token)
		req.Header.Set("Accept-Language", "en")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		if rec.Code != status {
			t.Errorf("%s: %d, want %d", token, rec.Code, status)
		}
	}
}
