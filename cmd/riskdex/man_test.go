package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/require"
)

// TestManualPages: man reads each page without a warning, and whatis knows what it is about.
func TestManualPages(t *testing.T) {
	man := needs.Program(t, "man", "apt-get install man-db")
	lexgrog := needs.Program(t, "lexgrog", "apt-get install man-db")
	dir := t.TempDir()
	output(t, "man", dir)
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	require.NoError(t, err)
	if len(pages) < 30 {
		t.Fatalf("only %d pages", len(pages))
	}
	var warnings strings.Builder
	cmd := exec.CommandContext(t.Context(), man, append([]string{"--warnings", "-E", "UTF-8", "-Tutf8", "-l"}, pages...)...)
	cmd.Stderr = &warnings
	text, err := cmd.Output()
	if shown := strings.Count(string(text), "0: done."); err != nil || shown != len(pages) || warnings.Len() > 0 {
		t.Errorf("man shows %d of %d pages: %v %s", shown, len(pages), err, &warnings)
	}
	if out, err := exec.CommandContext(t.Context(), lexgrog, pages...).CombinedOutput(); err != nil {
		t.Errorf("a page does not say what it is about: %v\n%s", err, out)
	}
}
