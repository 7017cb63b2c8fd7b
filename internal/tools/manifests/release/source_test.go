package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"riskdex/internal/testkit/require"
)

// git runs git in a folder, for somebody at a fixed time.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=Test", "-c", "user.email=test@localhost"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
	_, err := output(cmd, dir)
	require.NoError(t, err)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// What is no version, or not exactly what is checked out, is refused, and how to go on is
// said.
func TestWhatIsNoReleaseIsRefused(t *testing.T) {
	dir := t.TempDir()
	changelog := filepath.Join(dir, "CHANGELOG.md")
	write(t, changelog, "# Changelog\n\n## [1.2.3] - 2026-01-02\n\n## [1.2.5] - 2026-01-03\n")
	write(t, filepath.Join(dir, "Dockerfile"), "FROM golang:1.26.8 AS build\n")
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "First")
	refused := func(version, says string) {
		t.Helper()
		if _, err := checkout(t.Context(), dir, version); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", version, err, says)
		}
	}
	for _, version := range []string{"", "1.2.3", "v1.2", "v1.2.3+x", "v01.2.3", "newest", "v1.2.3 ", "v1.2.3-"} {
		refused(version, "is not a version: say it as v1.2.3")
	}
	refused("v1.2.3", "there is no tag v1.2.3; make it: git tag -a v1.2.3")
	git(t, dir, "tag", "-am", "v1.2.3", "v1.2.3")
	git(t, dir, "tag", "v1.2.4")
	refused("v1.2.4", `no section "## [1.2.4]"`)
	s, err := checkout(t.Context(), dir, "v1.2.3")
	if err != nil || s.goVersion != "go1.26.8" || s.time.Unix() != 1767323045 || s.number() != "1.2.3" {
		t.Errorf("%+v, %v", s, err)
	}
	write(t, filepath.Join(dir, "new"), "")
	refused("v1.2.3", "files differ from the commit; commit them, or remove them:\n?? new")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "Second")
	refused("v1.2.3", "check the tag out: git checkout v1.2.3")
	refused("v1.2.5", "there is no tag")
}
