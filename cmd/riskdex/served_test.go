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

// TestServedHere: commands ask the riskdex that the listeners of the environment or of the package
// say, unless they are told another one.
func TestServedHere(t *testing.T) {
	before := packageSettings
	t.Cleanup(func() { packageSettings = before })
	packageSettings = filepath.Join(t.TempDir(), "riskdex.env")
	for _, c := range []struct {
		file, environment, admin, to string
	}{
		{"", "", "http://127.0.0.1:8081", "http://127.0.0.1:8080"},
		{"", "RISKDEX_ADMIN_LISTEN=0.0.0.0:1 RISKDEX_LISTEN=[::1]:2 RISKDEX_PREFIX=/api/v1/", "http://127.0.0.1:1", "http://[::1]:2/api/v1"},
		{"", "RISKDEX_ADMIN_LISTEN=:1 RISKDEX_LISTEN=nowhere", "http://127.0.0.1:1", "http://127.0.0.1:8080"},
		{"#RISKDEX_LISTEN=:9\nRISKDEX_LISTEN=\"10.0.0.1:2\"\nRISKDEX_TLS_CERT_FILE=/x\nRISKDEX_ADMIN_LISTEN=:3\n", "RISKDEX_ADMIN_LISTEN=:1", "http://127.0.0.1:1", "https://10.0.0.1:2"},
		{"RISKDEX_ADMIN_LISTEN=:3\n", "RISKDEX_ADMIN_URL=http://a RISKDEX_URL=http://b/c", "http://a", "http://b/c"},
	} {
		require.NoError(t, os.WriteFile(packageSettings, []byte(c.file), 0o600))
		for _, name := range []string{"RISKDEX_ADMIN_LISTEN", "RISKDEX_LISTEN", "RISKDEX_PREFIX", "RISKDEX_ADMIN_URL", "RISKDEX_URL"} {
			t.Setenv(name, "")
		}
		for _, variable := range words(c.environment) {
			name, value, _ := strings.Cut(variable, "=")
			t.Setenv(name, value)
		}
		var cli commands
		parser, err := newParser(&cli)
		require.NoError(t, err)
		_, err = parser.Parse([]string{"push"})
		require.NoError(t, err)
		if cli.Push.Admin != c.admin || cli.Push.To != c.to {
			t.Errorf("%q and %q: asks %s, delivers to %s; want %s and %s", c.file, c.environment, cli.Push.Admin, cli.Push.To, c.admin, c.to)
		}
	}
}

// TestAnotherJournalIsLeftAlone: a command that changes something says so, and changes nothing, if
// another riskdex answers than the one whose journal the environment names.
func TestAnotherJournalIsLeftAlone(t *testing.T) {
	changed := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/journal" {
			_, _ = io.WriteString(w, `{"name":"/data/riskdex.db","engine":"sqlite"}`)
			return
		}
		changed++
		_, _ = io.WriteString(w, `{"done":1,"accepted":1,"deliveries":1,"report":{}}`)
	}))
	defer server.Close()
	t.Setenv("RISKDEX_ADMIN_LISTEN", strings.TrimPrefix(server.URL, "http://"))
	for journal, want := range map[string]int{"": exitDone, "/data/riskdex.db": exitDone, "/data/../data/riskdex.db": exitDone, "/else/riskdex.db": exitFailed, "postgres://u:secret@db/riskdex": exitFailed} {
		t.Setenv("RISKDEX_JOURNAL", journal)
		for _, command := range []string{"dead drop cities 1", "refused retry 1"} {
			changed = 0
			var out bytes.Buffer
			status := run(t.Context(), words(command), streams{&out, &out})
			if status != want || changed != map[int]int{exitDone: 1}[want] || !strings.Contains(out.String(), server.URL) || strings.Contains(out.String(), "secret") {
				t.Errorf("%s, %q: exit status %d, %d calls, %s", command, journal, status, changed, out.String())
			}
		}
	}
	t.Setenv("RISKDEX_JOURNAL", "/else/riskdex.db")
	t.Setenv("RISKDEX_ADMIN_LISTEN", "127.0.0.1:8081")
	var out bytes.Buffer
	if status := run(t.Context(), words("dead drop cities 1 --admin "+server.URL), streams{&out, &out}); status != exitDone {
		t.Errorf("at the address that was named: exit status %d, %s", status, out.String())
	}
}
