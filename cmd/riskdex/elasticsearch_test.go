package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
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
