package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/require"
)

// TestTokenOfSeveralFiles: commands accept the same RISKDEX_ADMIN_TOKEN_FILE as serve.
func TestTokenOfSeveralFiles(t *testing.T) {
	var shown string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown = r.Header.Get("Authorization")
		_, _ = io.WriteString(w, `{"ready":true}`)
	}))
	defer server.Close()
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	one, other := file("one", "# rotated\nfirst\nsecond\n"), file("other", "third\n")
	nothing, comment, missing := file("nothing", "\n"), file("comment", "# none\n"), filepath.Join(folder, "missing")
	for _, c := range []struct {
		files, shows string
		status       int
		says         string
	}{
		{one, "Bearer first", exitDone, ""},
		{one + "," + other, "Bearer first", exitDone, ""},
		{other + "," + one, "Bearer third", exitDone, ""},
		{missing + "," + other, "Bearer third", exitDone, ""},
		{nothing + "," + comment + "," + other, "Bearer third", exitDone, ""},
		{missing, "", exitFailed, missing},
		{missing + "," + comment, "", exitFailed, "there is no token in " + comment},
		{"", "Bearer of-the-environment", exitDone, ""},
	} {
		shown = ""
		t.Setenv("RISKDEX_ADMIN_TOKEN_FILE", c.files)
		t.Setenv("RISKDEX_ADMIN_TOKEN", "of-the-environment")
		var out bytes.Buffer
		status := run(t.Context(), words("healthy --admin "+server.URL), streams{&out, &out})
		if status != c.status || shown != c.shows || !strings.Contains(out.String(), c.says) {
			t.Errorf("%q: status %d, showed %q, said %q", c.files, status, shown, out.String())
		}
	}
}
