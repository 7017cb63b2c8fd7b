package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/require"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	return string(text)
}

// TestDeliveriesOfTheReadme runs them as they are pasted, wherever make run has riskdex listen.
func TestDeliveriesOfTheReadme(t *testing.T) {
	needs.Program(t, "curl", "apt-get install curl")
	p := newProcess(t, "http://127.0.0.1:1")
	p.start()
	calls := regexp.MustCompile(`(?m)^curl -X .*$`).FindAllString(readme(t), -1)
	if len(calls) != 3 {
		t.Fatalf("README.md has %d deliveries, want 3", len(calls))
	}
	for _, call := range calls {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(call, "curl", "curl -sS", 1))
		cmd.Env = append(os.Environ(), "RISKDEX_LISTEN="+p.deliveries)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), `"accepted":1`) {
			t.Errorf("%s: %v\n%s", call, err, out)
		}
	}
}
