package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"riskdex/internal/testkit/require"
)

// TestCredentialsOfElasticsearch: errors in the credentials are reported before anything is
// done, and the credentials are never printed.
func TestCredentialsOfElasticsearch(t *testing.T) {
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for want, args := range map[string][]string{
		"password in it, which everybody": {"--elasticsearch-url", "http://riskdex:hunter2@127.0.0.1:1"},
		"is empty":                        {"--elasticsearch-api-key-file", file("empty", "\n")},
		"more than one line":              {"--elasticsearch-api-key-file", file("two", "hunter2\nhunter2\n")},
		"no such file":                    {"--elasticsearch-ca-file", filepath.Join(folder, "missing")},
		"more than one kind":              {"--elasticsearch-api-key-file", file("key", "hunter2\n"), "--elasticsearch-user", "u", "--elasticsearch-password-file", file("password", "hunter2")},
		"refused":                         {"--elasticsearch-url", "http://127.0.0.1:1", "--elasticsearch-user", "u", "--elasticsearch-password-file", file("password", "hunter2")},
	} {
		var out, err bytes.Buffer
		status := run(t.Context(), append([]string{"search", "x"}, args...), streams{&out, &err})
		if status != exitFailed || !strings.Contains(err.String(), want) || strings.Contains(err.String(), "hunter2") {
			t.Errorf("status %d, %q; want %q", status, err.String(), want)
		}
	}
}

// TestSecretOfElasticsearchIsReplaced while riskdex runs. A file that cannot be used, such as one half
// written, replaces nothing.
func TestSecretOfElasticsearchIsReplaced(t *testing.T) {
	var sent atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent.Store(r.Header.Get("Authorization"))
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "secret")
	for user, shown := range map[string]map[string]string{
		"":       {"first": "ApiKey first", "second": "ApiKey second"},
		"writer": {"first": "Basic d3JpdGVyOmZpcnN0", "second": "Basic d3JpdGVyOnNlY29uZA=="},
	} {
		require.NoError(t, os.WriteFile(file, []byte("first\n"), 0o600))
		s := signIn{APIKeyFile: file}
		if user != "" {
			s = signIn{User: user, PasswordFile: file}
		}
		client, err := s.client(server.URL)
		require.NoError(t, err)
		shows := func() string {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			require.NoError(t, err)
			res, err := client.Perform(req)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			return sent.Load().(string)
		}
		if got := shows(); got != shown["first"] {
			t.Errorf("sent %q", got)
		}
		require.NoError(t, os.WriteFile(file, []byte("second\n"), 0o600))
		eventually(t, "the new secret is sent", func() bool { return shows() == shown["second"] })
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		if got := shows(); got != shown["second"] {
			t.Errorf("after the file was emptied: %q", got)
		}
	}
}
