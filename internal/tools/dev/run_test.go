package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestShellsBesideFindWhatRuns has a shell source the file that make run writes.
func TestShellsBesideFindWhatRuns(t *testing.T) {
	local := filepath.Join(t.TempDir(), "a folder's")
	if out, err := exec.CommandContext(t.Context(), "mkdir", local).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	r := &stack{binary: filepath.Join(local, "riskdex"), url: "http://it:is$x'`id`@127.0.0.1:19200", listen: "127.0.0.1:18080", admin: "127.0.0.1:18081"}
	if err := r.writeEnvironment(); err != nil {
		t.Fatal(err)
	}
	shell := exec.CommandContext(t.Context(), "/bin/sh", "-c", `. "$1/env" && printf '%s\n' "$ELASTICSEARCH_URL" "$RISKDEX_LISTEN" "$RISKDEX_ADMIN_LISTEN" "${PATH%%:*}"`, "sh", local)
	out, err := shell.Output()
	if want := r.url + "\n" + r.listen + "\n" + r.admin + "\n" + local + "\n"; err != nil || string(out) != want {
		t.Errorf("a shell has %q, %v, want %q", out, err, want)
	}
}
