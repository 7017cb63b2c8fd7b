package supply

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"riskdex/internal/testkit/needs"
	"riskdex/internal/testkit/require"
	"strings"
	"testing"
)

const root = "../../.."

// source returns the files from which the program is built, relative to root.
func source(t *testing.T) []string {
	t.Helper()
	list := command(t, root, "go", "list", "-deps", "-f",
		`{{if .Module}}{{if .Module.Main}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{range .EmbedFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`,
		"./cmd/riskdex")
	home, err := filepath.Abs(root)
	require.NoError(t, err)
	files := []string{"go.mod", "go.sum", "Makefile", "Dockerfile", ".gitignore"}
	for line := range strings.Lines(list) {
		if file := strings.TrimSpace(line); file != "" {
			name, err := filepath.Rel(home, file)
			require.NoError(t, err)
			files = append(files, name)
		}
	}
	if len(files) < 20 {
		t.Fatalf("riskdex has %d files only", len(files))
	}
	return files
}

// copied returns a new folder with the source.
func copied(t *testing.T) string {
	t.Helper()
	needs.FullRun(t, "a build of riskdex")
	dir := t.TempDir()
	for _, name := range source(t) {
		content, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		to := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, content, 0o644))
	}
	return dir
}

// The commit of committed: by nobody, at a fixed time.
const commitTime = "2026-01-02T03:04:05Z"

// committed makes dir a repository with one commit, the same for the same files.
func committed(t *testing.T, dir string) (commit string) {
	t.Helper()
	git := func(args ...string) string {
		return command(t, dir, "git", append([]string{"-c", "user.name=nobody", "-c", "user.email=nobody@invalid", "-c", "commit.gpgsign=false"}, args...)...)
	}
	git("init", "--quiet")
	git("add", "--all")
	git("commit", "--quiet", "--message", "the source")
	return strings.TrimSpace(git("rev-parse", "HEAD"))
}

// command runs a program in dir and returns its output.
func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	var out, trouble bytes.Buffer
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &trouble
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE="+commitTime, "GIT_COMMITTER_DATE="+commitTime,
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "STAMP", "MAKEFLAGS", "CGO_ENABLED", "GOFLAGS"} {
		cmd.Env = append(cmd.Env, name+"=")
	}
	cmd.Env = withoutEmpty(cmd.Env)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %q: %v\n%s%s", name, args, err, &out, &trouble)
	}
	return out.String()
}

// withoutEmpty omits the variables whose last value is empty, which git would take for a
// path.
func withoutEmpty(env []string) (kept []string) {
	last := map[string]string{}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		last[name] = value
	}
	for name, value := range last {
		if value != "" {
			kept = append(kept, name+"="+value)
		}
	}
	return kept
}
