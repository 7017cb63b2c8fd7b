package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"riskdex/internal/testkit/require"
)

// TestReplacedTokenIsReadAgain, by a command that goes on for longer than its token.
func TestReplacedTokenIsReadAgain(t *testing.T) {
	valid, calls := "first-token", 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		if r.Header.Get("Authorization") != "Bearer "+valid {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(valid+"\n"), 0o600))
	client, err := adminSettings{Admin: server.URL, AdminTokenFiles: []string{file}}.client(streams{})
	require.NoError(t, err)
	send := func(want int) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		require.NoError(t, err)
		res, err := client.send(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		if res.StatusCode != want {
			t.Errorf("answered %d, want %d", res.StatusCode, want)
		}
	}
	send(http.StatusOK)
	valid = "second-token"
	send(http.StatusUnauthorized) // the file has the old one
	if calls != 2 {
		t.Errorf("%d calls, want no second one with the same token", calls)
	}
	require.NoError(t, os.WriteFile(file, []byte(valid+"\n"), 0o600))
	send(http.StatusOK)
	send(http.StatusOK)
	if calls != 5 {
		t.Errorf("%d calls, want 5: the new token is kept", calls)
	}
}
